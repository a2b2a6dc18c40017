import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { AppendOptions, LogEntry, LogPart, Store } from '../../src/backplane/store.js'

/** An empty store for one test. */
export interface OpenedStore {
  readonly store: Store
  /** A second way to the same content, as another node has it. @default store */
  readonly peer?: Store
  /** Lets time pass at once. Left out, the tests wait for it. */
  advance?(ms: number): void
  close(): Promise<void> | void
  /** Cuts the connection of `store`, and gives it back. */
  lose?(): Promise<void>
  restore?(): Promise<void>
}

interface Setting {
  readonly store: Store
  readonly peer: Store
  pass(ms: number): Promise<void>
}

type Open = () => Promise<OpenedStore>

const MINUTE = { ttlMs: 60_000 }
const LOG: AppendOptions = { ttlMs: 60_000, maxEntries: 1_000, maxBytes: 1_000_000 }
const STRANGE = 'a:b/ä*c d'
// 8 MiB in UTF-8, half as many characters.
const HUGE = 'ä'.repeat(4 * 1024 * 1024)

/** What every `Store` does, as tests. `open` is called once per test; `openLosable` gives one whose connection can be cut. */
export function testStore(name: string, open: Open, options: { readonly openLosable?: Open } = {}): void {
  describe(`store contract: ${name}`, () => {
    testValues(open)
    testRevisions(open)
    testLeases(open)
    testLists(open)
    testLogs(open)
    testBounds(open)
    if (options.openLosable) testConnection(options.openLosable)
  })
}

function check(open: Open, title: string, body: (setting: Setting) => Promise<void>): void {
  test(title, async () => {
    const opened = await open()
    const { store, peer = store } = opened
    const pass = async (ms: number): Promise<void> => {
      if (opened.advance === undefined) await sleep(ms)
      else opened.advance(ms)
    }
    try {
      await body({ store, peer, pass })
    } finally {
      await opened.close()
    }
  })
}

function testValues(open: Open): void {
  describe('values', () => {
    check(open, 'a value is there for every node until it is replaced or deleted', async ({ store, peer }) => {
      expect(await store.get('k')).toBeUndefined()
      await store.set('k', 'one', MINUTE)
      expect((await peer.get('k'))?.value).toBe('one')
      await peer.set('k', 'two', MINUTE)
      expect((await store.get('k'))?.value).toBe('two')
      expect(await peer.delete('k')).toBe(true)
      expect(await store.get('k')).toBeUndefined()
      expect(await store.delete('k')).toBe(false)
    })

    check(open, 'a TTL of 50 ms ends, one of a minute does not', async ({ store, pass }) => {
      await store.set('short', 'x', { ttlMs: 50 })
      await store.set('long', 'y', MINUTE)
      await pass(150)
      expect(await all(store.list(''))).toEqual(['long'])
      expect(await store.delete('short')).toBe(false)
      expect(await store.get('short')).toBeUndefined()
      expect((await store.get('long'))?.value).toBe('y')
    })

    check(open, 'each set starts the time anew, for longer and for shorter', async ({ store, pass }) => {
      await store.set('lengthened', 'x', { ttlMs: 50 })
      await store.set('lengthened', 'x', MINUTE)
      await store.set('shortened', 'x', MINUTE)
      await store.set('shortened', 'x', { ttlMs: 50 })
      await pass(150)
      expect((await store.get('lengthened'))?.value).toBe('x')
      expect(await store.get('shortened')).toBeUndefined()
    })

    check(open, 'a key is any string, and each is its own', async ({ store, peer }) => {
      const keys = [STRANGE, 'a:b/ä*c', 'a:b/a*c d', 'a:b/ä*c  d', 'A:b/ä*c d', 'a.b>c', '{t}:1', '%C3%A4', '~', '=']
      for (const [index, key] of keys.entries()) await store.set(key, String(index), MINUTE)
      for (const [index, key] of keys.entries()) expect((await peer.get(key))?.value).toBe(String(index))
      expect((await all(peer.list(''))).sort()).toEqual([...keys].sort())
      expect(await store.delete(STRANGE)).toBe(true)
      expect((await peer.get('a:b/ä*c'))?.value).toBe('1')
    })

    check(open, 'a key of 5,000 characters, and one that differs from it in the last', async ({ store, peer }) => {
      const keys = ['a', 'b'].map((last) => `${'long/'.repeat(1_000)}${last}`)
      for (const key of keys) {
        await store.set(key, key, MINUTE)
        await store.append(key, key, LOG)
      }
      for (const key of keys) {
        expect((await peer.get(key))?.value === key).toBe(true)
        expect(told(await peer.readAfter(key, undefined, 9))).toEqual([key, false])
      }
      expect((await all(peer.list('long/'))).sort()).toEqual(keys)
      expect(await all(peer.list('short/'))).toEqual([])
      expect(await peer.delete(keys[0]!)).toBe(true)
      expect(await all(store.list('long/'))).toEqual([keys[1]])
    })

    check(open, 'a value is any string', async ({ store, peer }) => {
      for (const value of ['', ' ', 'line\nline\r\n', '"\\\u0000\u2028', 'ä€😀', '{"a":1}']) {
        await store.set('k', value, MINUTE)
        expect((await peer.get('k'))?.value).toBe(value)
      }
    })

    check(open, 'a value of 8 MiB', async ({ store, peer }) => {
      await store.set('k', HUGE, MINUTE)
      expect((await peer.get('k'))?.value === HUGE).toBe(true)
      await store.set('k', 'small', MINUTE)
      expect((await peer.get('k'))?.value).toBe('small')
      expect(await all(peer.list(''))).toEqual(['k'])
    })

    check(open, 'numbers out of range are refused and change nothing', async ({ store }) => {
      for (const ttlMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(store.set('k', 'v', { ttlMs })).rejects.toThrow(RangeError)
        await expect(store.claim('k', 'a', ttlMs)).rejects.toThrow(RangeError)
        await expect(store.append('l', 'v', { ...LOG, ttlMs })).rejects.toThrow(RangeError)
      }
      await expect(store.append('l', 'v', { ...LOG, maxEntries: 0 })).rejects.toThrow(RangeError)
      await expect(store.append('l', 'v', { ...LOG, maxBytes: 0 })).rejects.toThrow(RangeError)
      await expect(store.readAfter('l', undefined, 0)).rejects.toThrow(RangeError)
      expect(await store.get('k')).toBeUndefined()
      expect(await store.readAfter('l', undefined, 1)).toEqual({ entries: [], gap: false })
    })
  })
}

function testRevisions(open: Open): void {
  describe('revisions', () => {
    check(open, 'the revision of a set is the one that get tells', async ({ store, peer }) => {
      const first = await store.set('k', 'one', MINUTE)
      expect(typeof first).toBe('string')
      expect(await peer.get('k')).toEqual({ value: 'one', revision: first })
      const second = await peer.set('k', 'one', MINUTE)
      expect(second).not.toBe(first)
      expect(await store.get('k')).toEqual({ value: 'one', revision: second })
    })

    check(open, 'a stale revision sets nothing, the right one does', async ({ store, peer }) => {
      const first = await written(store, 'k', 'one')
      const second = await peer.set('k', 'two', { ...MINUTE, ifRevision: first })
      expect(typeof second).toBe('string')
      expect(await store.set('k', 'three', { ...MINUTE, ifRevision: first })).toBeUndefined()
      expect(await store.get('k')).toEqual({ value: 'two', revision: second })
    })

    check(open, 'a refused set leaves the time as it is', async ({ store, pass }) => {
      await store.set('k', 'one', { ttlMs: 50 })
      expect(await store.set('k', 'two', { ...MINUTE, ifRevision: 'never' })).toBeUndefined()
      await pass(150)
      expect(await store.get('k')).toBeUndefined()
    })

    check(open, 'null means that there must be no value', async ({ store, peer, pass }) => {
      expect(typeof (await store.set('k', 'one', { ttlMs: 60_000, ifRevision: null }))).toBe('string')
      expect(await peer.set('k', 'two', { ...MINUTE, ifRevision: null })).toBeUndefined()
      expect((await peer.get('k'))?.value).toBe('one')
      await store.delete('k')
      expect(typeof (await peer.set('k', 'three', { ttlMs: 50, ifRevision: null }))).toBe('string')
      await pass(150)
      expect(typeof (await store.set('k', 'four', { ...MINUTE, ifRevision: null }))).toBe('string')
      expect((await store.get('k'))?.value).toBe('four')
    })

    check(open, 'a revision of a deleted value is stale for ever', async ({ store, peer }) => {
      const first = await written(store, 'k', 'one')
      await store.delete('k')
      expect(await store.set('k', 'two', { ...MINUTE, ifRevision: first })).toBeUndefined()
      expect(await store.get('k')).toBeUndefined()
      await peer.set('k', 'one', MINUTE)
      expect(await store.set('k', 'two', { ...MINUTE, ifRevision: first })).toBeUndefined()
      expect(await store.delete('k', first)).toBe(false)
      expect((await store.get('k'))?.value).toBe('one')
    })

    check(open, 'delete with a revision', async ({ store, peer }) => {
      const first = await written(store, 'k', 'one')
      const second = await written(store, 'k', 'two')
      expect(await peer.delete('k', first)).toBe(false)
      expect((await store.get('k'))?.value).toBe('two')
      expect(await peer.delete('k', second)).toBe(true)
      expect(await store.get('k')).toBeUndefined()
      expect(await peer.delete('k', second)).toBe(false)
    })

    check(open, 'of 100 who want to be first one is', async ({ store, peer }) => {
      const race = Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? store : peer).set('k', `n${index}`, { ...MINUTE, ifRevision: null }),
      )
      const winners = (await Promise.all(race)).flatMap((revision, index) =>
        revision === undefined ? [] : [`n${index}`],
      )
      expect(winners).toHaveLength(1)
      expect((await store.get('k'))?.value).toBe(winners[0])
    })

    check(open, '20 read-then-writes at once lose no update', async ({ store, peer }) => {
      const increment = async (through: Store): Promise<void> => {
        for (;;) {
          const current = await through.get('k')
          const next = String(Number(current?.value ?? '0') + 1)
          const revision = await through.set('k', next, { ...MINUTE, ifRevision: current?.revision ?? null })
          if (revision !== undefined) return
        }
      }
      await Promise.all(Array.from({ length: 20 }, (_, index) => increment(index % 2 === 0 ? store : peer)))
      expect((await store.get('k'))?.value).toBe('20')
    })
  })
}

function testLeases(open: Open): void {
  describe('leases', () => {
    check(open, 'of 100 racing claims one wins, and all learn which', async ({ store, peer }) => {
      const leases = await Promise.all(
        Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? store : peer).claim(STRANGE, `n${index}`, 60_000)),
      )
      const winners = leases.flatMap((lease, index) => (lease.mine ? [`n${index}`] : []))
      expect(winners).toHaveLength(1)
      expect(new Set(leases.map((lease) => lease.owner))).toEqual(new Set(winners))
    })

    check(open, 'its owner renews it', async ({ store, peer, pass }) => {
      expect(await store.claim('k', 'a', 1_000)).toEqual({ owner: 'a', mine: true })
      await pass(600)
      expect(await peer.claim('k', 'a', 1_000)).toEqual({ owner: 'a', mine: true })
      await pass(600)
      expect(await peer.claim('k', 'b', 1_000)).toEqual({ owner: 'a', mine: false })
    })

    check(
      open,
      'a refused claim does not lengthen it, and after its time another one gets it',
      async ({ store, pass }) => {
        await store.claim('k', 'a', 1_000)
        expect(await store.claim('k', 'b', 60_000)).toEqual({ owner: 'a', mine: false })
        await pass(1_100)
        expect(await store.claim('k', 'b', 60_000)).toEqual({ owner: 'b', mine: true })
        expect(await store.claim('k', 'a', 60_000)).toEqual({ owner: 'b', mine: false })
      },
    )

    check(open, 'a TTL of 50 ms', async ({ store, pass }) => {
      await store.claim('k', 'a', 50)
      await pass(150)
      expect(await store.claim('k', 'b', 60_000)).toEqual({ owner: 'b', mine: true })
    })

    check(open, 'only its owner releases it', async ({ store, peer }) => {
      await store.claim('k', 'a', 60_000)
      await peer.release('k', 'b')
      expect(await peer.claim('k', 'b', 60_000)).toEqual({ owner: 'a', mine: false })
      await peer.release('k', 'a')
      expect(await peer.claim('k', 'b', 60_000)).toEqual({ owner: 'b', mine: true })
      await store.release('k', 'a')
      expect(await store.claim('k', 'a', 60_000)).toEqual({ owner: 'b', mine: false })
      await store.release('nobody has it', 'a')
    })

    check(open, 'is a key: get shows its owner, list lists it, delete takes it away', async ({ store, peer }) => {
      await store.claim('node/a', 'a#1', 60_000)
      await store.claim('node/b', 'b#1', 60_000)
      const stored = await peer.get('node/a')
      expect(stored?.value).toBe('a#1')
      expect((await all(peer.list('node/'))).sort()).toEqual(['node/a', 'node/b'])
      expect(await peer.delete('node/a', stored?.revision)).toBe(true)
      expect(await store.claim('node/a', 'a#2', 60_000)).toEqual({ owner: 'a#2', mine: true })
      await store.set('v', 'x', MINUTE)
      expect(await store.claim('v', 'y', 60_000)).toEqual({ owner: 'x', mine: false })
    })
  })
}

function testLists(open: Open): void {
  describe('list', () => {
    check(open, 'gives the keys of a prefix, each once', async ({ store, peer }) => {
      for (const key of ['s/1', 's/2', 's/1/x', 't/1', 's', '']) await store.set(key, 'v', MINUTE)
      await store.append('s/log', 'v', LOG)
      expect((await all(peer.list('s/'))).sort()).toEqual(['s/1', 's/1/x', 's/2'])
      expect((await all(peer.list(''))).sort()).toEqual(['', 's', 's/1', 's/1/x', 's/2', 't/1'])
      expect(await all(peer.list('u'))).toEqual([])
    })

    check(open, 'a prefix is no pattern', async ({ store, peer }) => {
      for (const key of ['p*1', 'pa1', 'p?2', 'pb2', 'p[a]3', 'pa3', 'p.>', 'p.c', 'p\\*', `${STRANGE}1`]) {
        await store.set(key, 'v', MINUTE)
      }
      expect(await all(peer.list('p*'))).toEqual(['p*1'])
      expect(await all(peer.list('p?'))).toEqual(['p?2'])
      expect(await all(peer.list('p[a]'))).toEqual(['p[a]3'])
      expect(await all(peer.list('p.>'))).toEqual(['p.>'])
      expect(await all(peer.list('p\\'))).toEqual(['p\\*'])
      expect(await all(peer.list('*'))).toEqual([])
      expect(await all(peer.list(STRANGE))).toEqual(['a:b/ä*c d1'])
    })

    check(open, 'while keys change: what stays is there, nothing twice', async ({ store, peer }) => {
      const key = (index: number): string => `n/${index}`
      const range = (from: number, to: number): string[] =>
        Array.from({ length: to - from }, (_, index) => key(from + index))
      await Promise.all(range(0, 400).map((one) => store.set(one, 'v', MINUTE)))
      const seen: string[] = []
      for await (const one of peer.list('n/')) {
        seen.push(one)
        if (seen.length !== 10) continue
        for (const stays of range(0, 100)) await store.set(stays, 'changed', MINUTE)
        for (const back of range(100, 200)) {
          await store.delete(back)
          await store.set(back, 'back', MINUTE)
        }
        for (const gone of range(200, 300)) await store.delete(gone)
        for (const came of range(400, 500)) await store.set(came, 'v', MINUTE)
      }
      expect(new Set(seen).size).toBe(seen.length)
      expect([...range(0, 100), ...range(300, 400)].filter((one) => !seen.includes(one))).toEqual([])
      expect(seen.filter((one) => !one.startsWith('n/'))).toEqual([])
    })

    check(open, 'can be left early', async ({ store }) => {
      for (const key of ['n/1', 'n/2', 'n/3']) await store.set(key, 'v', MINUTE)
      for await (const key of store.list('n/')) {
        expect(key.startsWith('n/')).toBe(true)
        break
      }
      expect(await all(store.list('n/'))).toHaveLength(3)
    })
  })
}

function testLogs(open: Open): void {
  describe('logs', () => {
    check(open, 'entries come in the order of their ids, which are strings that increase', async ({ store, peer }) => {
      const ids: string[] = []
      for (let index = 0; index < 120; index += 1) ids.push(await store.append('l', `v${index}`, LOG))
      expect([...ids].sort()).toEqual(ids)
      expect(new Set(ids).size).toBe(120)
      expect(ids.filter((id) => !/^[0-9A-Za-z-]{1,64}$/.test(id))).toEqual([])
      const { entries, gap } = await peer.readAfter('l', undefined, 1_000)
      expect(entries).toEqual(ids.map((id, index) => ({ id, value: `v${index}` })))
      expect(gap).toBe(false)
    })

    check(open, '50 racing appends are all there', async ({ store, peer }) => {
      const race = Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? store : peer).append('l', `v${index}`, LOG),
      )
      const ids = await Promise.all(race)
      const { entries, gap } = await store.readAfter('l', undefined, 100)
      const expected = ids.map((id, index): LogEntry => ({ id, value: `v${index}` }))
      expect(entries).toEqual(expected.sort((one, other) => (one.id < other.id ? -1 : 1)))
      expect(new Set(ids).size).toBe(50)
      expect(gap).toBe(false)
    })

    check(open, 'large entries that two nodes append at once are all there', async ({ store, peer }) => {
      const large = 'x'.repeat(1_500_000)
      const race = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) =>
        (index % 2 === 0 ? store : peer).append('l', name + large, { ...LOG, maxBytes: 20_000_000 }),
      )
      const ids = await Promise.all(race)
      const { entries, gap } = await peer.readAfter('l', undefined, 9)
      expect(entries.map(({ value }) => value[0]).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
      expect(entries.map(({ id }) => id)).toEqual([...ids].sort())
      expect(entries.every(({ value }) => value.length === 1_500_001)).toBe(true)
      expect(gap).toBe(false)
    })

    check(open, 'a long log is read in steps, and in one', async ({ store, peer }) => {
      const ids: string[] = []
      for (let index = 0; index < 300; index += 1) ids.push(await store.append('l', `${index}`, LOG))
      const steps: string[] = []
      for (let after: string | undefined; steps.length < 300; after = steps.at(-1)) {
        const { entries, gap } = await peer.readAfter('l', after, 70)
        expect(gap).toBe(false)
        steps.push(...entries.map(({ id }) => id))
      }
      expect(steps).toEqual(ids)
      expect((await peer.readAfter('l', ids[99], 1_000)).entries.map(({ id }) => id)).toEqual(ids.slice(100))
    })

    check(open, 'reading goes on after an id, a few at a time', async ({ store, peer }) => {
      const ids: string[] = []
      for (const value of ['a', 'b', 'c', 'd', 'e']) ids.push(await store.append('l', value, LOG))
      expect(told(await peer.readAfter('l', undefined, 2))).toEqual(['ab', false])
      expect(told(await peer.readAfter('l', ids[1], 2))).toEqual(['cd', false])
      expect(told(await peer.readAfter('l', ids[3], 2))).toEqual(['e', false])
      expect(told(await peer.readAfter('l', ids[4], 2))).toEqual(['', false])
      await store.append('l', 'f', LOG)
      expect(told(await peer.readAfter('l', ids[4], 2))).toEqual(['f', false])
    })

    check(open, 'logs are apart from each other and from keys', async ({ store, peer }) => {
      await store.append(STRANGE, 'one', LOG)
      await store.append('a:b/ä*c', 'two', LOG)
      await store.set(STRANGE, 'value', MINUTE)
      expect(told(await peer.readAfter(STRANGE, undefined, 9))).toEqual(['one', false])
      expect((await peer.get(STRANGE))?.value).toBe('value')
      await store.drop(STRANGE)
      expect((await peer.get(STRANGE))?.value).toBe('value')
      await store.delete('a:b/ä*c')
      expect(told(await peer.readAfter('a:b/ä*c', undefined, 9))).toEqual(['two', false])
    })

    check(open, 'an id of another log or of none is a gap', async ({ store }) => {
      const other = await store.append('other', 'x', LOG)
      const own = await store.append('l', 'y', LOG)
      expect((await store.readAfter('l', other, 9)).gap).toBe(true)
      expect((await store.readAfter('other', own, 9)).gap).toBe(true)
      for (const id of ['', '0', 'nonsense', '0-0', 'ä * \u0000', '99999999999999999999999']) {
        expect((await store.readAfter('l', id, 9)).gap).toBe(true)
      }
    })

    check(open, 'a log that is not there', async ({ store }) => {
      expect(await store.readAfter('none', undefined, 9)).toEqual({ entries: [], gap: false })
      expect(await store.readAfter('none', '1', 9)).toEqual({ entries: [], gap: true })
      await store.drop('none')
    })

    check(open, 'drop ends a log, and its ids are unknown to its next life', async ({ store, peer }) => {
      const first = await store.append('l', 'a', LOG)
      const second = await store.append('l', 'b', LOG)
      await peer.drop('l')
      expect(await store.readAfter('l', undefined, 9)).toEqual({ entries: [], gap: false })
      expect(await store.readAfter('l', second, 9)).toEqual({ entries: [], gap: true })
      const third = await store.append('l', 'c', LOG)
      expect([first, second]).not.toContain(third)
      expect(await peer.readAfter('l', undefined, 9)).toEqual({ entries: [{ id: third, value: 'c' }], gap: false })
      expect((await peer.readAfter('l', first, 9)).gap).toBe(true)
      expect((await peer.readAfter('l', second, 9)).gap).toBe(true)
    })

    check(open, 'a log ends after its time, a TTL of 50 ms too', async ({ store, pass }) => {
      const id = await store.append('l', 'a', { ...LOG, ttlMs: 50 })
      await pass(150)
      expect(await store.readAfter('l', undefined, 9)).toEqual({ entries: [], gap: false })
      expect(await store.readAfter('l', id, 9)).toEqual({ entries: [], gap: true })
      const next = await store.append('l', 'b', LOG)
      expect(next).not.toBe(id)
      expect(told(await store.readAfter('l', undefined, 9))).toEqual(['b', false])
      expect((await store.readAfter('l', id, 9)).gap).toBe(true)
    })

    check(open, 'each append starts the time of the whole log anew', async ({ store, pass }) => {
      await store.append('l', 'a', { ...LOG, ttlMs: 1_000 })
      await pass(600)
      await store.append('l', 'b', { ...LOG, ttlMs: 1_000 })
      await pass(600)
      expect(told(await store.readAfter('l', undefined, 9))).toEqual(['ab', false])
    })

    check(open, 'an entry is any string, one of 8 MiB too', async ({ store, peer }) => {
      for (const value of ['', 'line\nline\r\n', '"\\\u0000\u2028', 'ä€😀', HUGE, 'after']) {
        const id = await store.append('l', value, { ...LOG, maxBytes: 20_000_000 })
        const { entries } = await peer.readAfter('l', undefined, 9)
        expect(entries.at(-1)?.id).toBe(id)
        expect(entries.at(-1)?.value === value).toBe(true)
      }
      expect((await peer.readAfter('l', undefined, 9)).entries).toHaveLength(6)
    })
  })
}

function testBounds(open: Open): void {
  describe('bounds of a log', () => {
    check(
      open,
      'the oldest go when there are too many, and a reader who missed one is told',
      async ({ store, peer }) => {
        const ids: string[] = []
        for (const value of ['a', 'b', 'c', 'd', 'e']) {
          ids.push(await store.append('l', value, { ...LOG, maxEntries: 3 }))
        }
        expect(told(await peer.readAfter('l', undefined, 9))).toEqual(['cde', true])
        expect(told(await peer.readAfter('l', ids[0], 9))).toEqual(['cde', true])
        expect((await peer.readAfter('l', ids[0], 1)).gap).toBe(true)
        expect(told(await peer.readAfter('l', ids[2], 9))).toEqual(['de', false])
        expect(told(await peer.readAfter('l', ids[4], 9))).toEqual(['', false])
      },
    )

    check(open, 'large entries go too', async ({ store, peer }) => {
      const bounds: AppendOptions = { ...LOG, maxBytes: 5_000_000 }
      for (const name of ['a', 'b', 'c', 'd', 'e']) await store.append('l', name.repeat(1_500_000), bounds)
      const { entries, gap } = await peer.readAfter('l', undefined, 9)
      expect(entries.map(({ value }) => value[0])).toEqual(['c', 'd', 'e'])
      expect(gap).toBe(true)
    })

    check(open, 'the oldest go when their bytes are too many', async ({ store, peer }) => {
      const bounds: AppendOptions = { ...LOG, maxBytes: 10 }
      const first = await store.append('l', '1111', bounds)
      await store.append('l', '2222', bounds)
      await store.append('l', '33', bounds)
      expect(told(await peer.readAfter('l', undefined, 9))).toEqual(['1111222233', false])
      await store.append('l', '4', bounds)
      expect(told(await peer.readAfter('l', undefined, 9))).toEqual(['2222334', true])
      await store.append('l', '55555555', bounds)
      expect(told(await peer.readAfter('l', undefined, 9))).toEqual(['455555555', true])
      expect((await peer.readAfter('l', first, 9)).gap).toBe(true)
    })

    check(open, 'bytes are those of UTF-8', async ({ store }) => {
      for (const value of ['ää', '€', '😀']) await store.append('l', value, { ...LOG, maxBytes: 11 })
      expect(told(await store.readAfter('l', undefined, 9))).toEqual(['ää€😀', false])
      await store.append('l', 'x', { ...LOG, maxBytes: 11 })
      expect(told(await store.readAfter('l', undefined, 9))).toEqual(['€😀x', true])
    })

    check(open, 'the newest stays, whatever its size', async ({ store, peer }) => {
      await store.append('l', 'a', { ...LOG, maxBytes: 4 })
      const id = await store.append('l', 'longer than four', { ...LOG, maxBytes: 4 })
      expect(await peer.readAfter('l', undefined, 9)).toEqual({
        entries: [{ id, value: 'longer than four' }],
        gap: true,
      })
      await store.append('l', 'b', { ...LOG, maxBytes: 4 })
      expect(told(await peer.readAfter('l', undefined, 9))).toEqual(['b', true])
    })

    check(open, 'a reader who keeps up sees no gap', async ({ store, peer }) => {
      let last = await store.append('l', '0', { ...LOG, maxEntries: 2 })
      for (let index = 1; index < 20; index += 1) {
        const next = await store.append('l', String(index), { ...LOG, maxEntries: 2 })
        expect(await peer.readAfter('l', last, 9)).toEqual({
          entries: [{ id: next, value: String(index) }],
          gap: false,
        })
        last = next
      }
    })

    check(open, 'a log that starts anew has lost nothing', async ({ store }) => {
      for (const value of ['a', 'b']) await store.append('l', value, { ...LOG, maxEntries: 1 })
      await store.drop('l')
      await store.append('l', 'c', { ...LOG, maxEntries: 1 })
      expect(told(await store.readAfter('l', undefined, 9))).toEqual(['c', false])
    })
  })
}

function testConnection(open: Open): void {
  test('a connection lost and back: calls are refused meanwhile, and what was kept is still there', async () => {
    const opened = await open()
    const { store } = opened
    if (opened.lose === undefined || opened.restore === undefined) throw new TypeError('open gives no lose and restore')
    try {
      await store.set('k', 'v', MINUTE)
      const id = await store.append('l', 'a', LOG)
      await opened.lose()
      await expect(store.get('k')).rejects.toThrow()
      await expect(store.append('l', 'b', LOG)).rejects.toThrow()
      await opened.restore()
      await expect.poll(async () => (await store.get('k').catch(() => undefined))?.value, { timeout: 15_000 }).toBe('v')
      expect((await store.readAfter('l', undefined, 1)).entries).toEqual([{ id, value: 'a' }])
      expect(await store.claim('c', 'a', 60_000)).toEqual({ owner: 'a', mine: true })
    } finally {
      await opened.close()
    }
  }, 60_000)
}

async function written(store: Store, key: string, value: string): Promise<string> {
  const revision = await store.set(key, value, MINUTE)
  if (revision === undefined) throw new Error(`nothing was set at ${key}`)
  return revision
}

async function all(keys: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = []
  for await (const key of keys) found.push(key)
  return found
}

/** The values of a part as one word, and its gap. */
function told(part: LogPart): [string, boolean] {
  return [part.entries.map((entry) => entry.value).join(''), part.gap]
}
