import { setTimeout as sleep } from 'node:timers/promises'
import { LegacyClient } from './legacy-client.js'
import type { ModernClient } from './modern-client.js'
import type { Json } from './wire.js'
import { Lost, Refused } from './wire.js'
import { between, Endless, textOf, type World } from './world.js'

/** Milliseconds between two calls of a client. */
const PAUSE_MS = [1_000, 3_000] as const
/** Numbered events of a call, and milliseconds between two of them. */
const COUNT = { to: 8, everyMs: 100 }
/** Of ten calls. */
const SHARES = { order: 3, count: 3 }

/** What a client does until the world is not busy any more. */
export async function work(world: World, client: LegacyClient | ModernClient, name: string): Promise<void> {
  for (let turn = 0; !world.busy.aborted; turn++) {
    await sleep(between(...PAUSE_MS))
    if (world.busy.aborted) return
    const dice = between(1, 10)
    try {
      if (dice <= SHARES.order) await order(world, client, `${name}-${turn}`)
      else if (dice <= SHARES.order + SHARES.count) await count(world, client)
      else await add(world, client)
    } catch (error) {
      // It has been counted, and judged.
      if (!(error instanceof Lost || error instanceof Refused || error instanceof Endless)) throw error
    }
  }
}

function expectText({ figures }: World, result: Json, expected: string): void {
  if (textOf(result) !== expected) figures.wrong('answers', `${expected} was expected, not ${JSON.stringify(result)}`)
}

async function add(world: World, client: LegacyClient | ModernClient): Promise<void> {
  const [a, b] = [between(0, 1_000), between(0, 1_000)]
  expectText(world, await client.call('add', { a, b }), String(a + b))
}

async function order(world: World, client: LegacyClient | ModernClient, ref: string): Promise<void> {
  expectText(world, await client.call('order', { ref }), `${ref}: Ada, 36`)
  world.figures.orders++
}

/** The events of a call come in order, each once, over however many connections. */
async function count(world: World, client: LegacyClient | ModernClient): Promise<void> {
  const { figures } = world
  const numbers: number[] = []
  // Where a stream can be gone on with, every second client hangs up once on its way.
  const leavesAt = client instanceof LegacyClient && between(0, 1) === 0 ? between(1, COUNT.to - 1) : undefined
  const onMessage = ({ params }: Json): boolean => {
    const { data } = params as { data: number }
    numbers.push(data)
    return data !== leavesAt
  }
  try {
    expectText(world, await client.call('count', COUNT, { onMessage }), `counted to ${COUNT.to}`)
    figures.counts++
    if (numbers.length !== COUNT.to) figures.wrong('events', `a call has counted ${numbers.join()}`)
  } finally {
    if (numbers.some((number, at) => number !== at + 1)) figures.wrong('events', `a call has counted ${numbers.join()}`)
  }
}
