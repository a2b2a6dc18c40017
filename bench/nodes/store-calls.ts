import type { Backplane } from 'phantom-mcp'
import { openBackplane } from './backplanes.js'
import type { Engine, EngineName } from './engines.js'

const AT_ONCE = 64
const MINUTE = { ttlMs: 60_000 }
const LOG = { ttlMs: 60_000, maxEntries: 1_000, maxBytes: 4 * 1024 * 1024 }
const RECORD = JSON.stringify({ v: '2025-11-25', client: { name: 'bench', version: '1' }, pad: 'x'.repeat(400) })

type Call = (index: number) => Promise<unknown>

/** What the calls of a backplane cost: with one caller, and with 64 at once. */
export async function storeCalls(name: EngineName, engine: Engine, rounds: number): Promise<void> {
  console.log(`${name}${' '.repeat(30 - name.length)}         one caller, p50, p99     64 callers`)
  const { backplane, close } = await openBackplane(engine.url)
  await measureAll(backplane, rounds)
  await close()
}

async function time(name: string, call: Call, rounds: number): Promise<void> {
  for (let index = 0; index < Math.min(rounds, 100); index += 1) await call(index)
  const times: number[] = []
  for (let index = 0; index < rounds; index += 1) {
    const before = performance.now()
    await call(index)
    times.push(performance.now() - before)
  }
  times.sort((one, other) => one - other)
  const started = performance.now()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < rounds) await call(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, caller))
  const perSecond = rounds / ((performance.now() - started) / 1_000)
  const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(3).padStart(9)
  console.log(`  ${name.padEnd(34)}${at(0.5)} ms${at(0.99)} ms${perSecond.toFixed(0).padStart(10)}/s`)
}

async function measureAll({ store, pubSub }: Backplane, rounds: number): Promise<void> {
  const measure = (name: string, call: Call, times = rounds): Promise<void> => time(name, call, times)
  const heard: (() => void)[] = []
  await pubSub.subscribe('bench', () => heard.shift()?.())
  await measure('set, 500 bytes', (index) => store.set(`s/${index}`, RECORD, MINUTE))
  await measure('get, 500 bytes', (index) => store.get(`s/${index}`))
  await measure('claim, renewed', (index) => store.claim(`lease/${index % 100}`, 'me', 15_000))
  await measure('append, 500 bytes', (index) => store.append(`log/${index % 100}`, RECORD, LOG))
  await measure('append to a log that is full', (index) =>
    store.append(`f${index % 100}`, RECORD, { ...LOG, maxEntries: 5 }),
  )
  await measure('readAfter, 5 entries', (index) => store.readAfter(`log/${index % 100}`, undefined, 5))
  for (let index = 0; index < 1_000; index += 1) await store.append('long', RECORD, LOG)
  await measure('readAfter, 1,000 entries', () => store.readAfter('long', undefined, 1_000), 20)
  await measure(`list, ${rounds} keys`, () => count(store.list('s/')), 20)
  await store.set('n/1', RECORD, MINUTE)
  await measure(`list, 1 key among ${rounds}`, () => count(store.list('n/')), 20)
  await measure('publish, 100 bytes', () => pubSub.publish('nobody', 'x'.repeat(100)))
  await measure('publish until it is heard', () => {
    const rung = new Promise<void>((resolve) => heard.push(resolve))
    return Promise.all([rung, pubSub.publish('bench', 'x'.repeat(100))])
  })
  const large = 'x'.repeat(8 * 1024 * 1024)
  await measure('set, 8 MiB', () => store.set('large', large, MINUTE), 4)
  await measure('get, 8 MiB', () => store.get('large'), 4)
}

async function count(keys: AsyncIterable<string>): Promise<number> {
  let found = 0
  for await (const _key of keys) found += 1
  return found
}
