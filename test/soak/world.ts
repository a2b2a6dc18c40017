import { setTimeout as sleep } from 'node:timers/promises'
import type { Figures } from './figures.js'
import type { Outages } from './outages.js'
import { type Json, Lost, Refused, type Wire } from './wire.js'

/** What all clients have in common. */
export interface World {
  readonly wire: Wire
  readonly outages: Outages
  readonly figures: Figures
  /** No new call is made once it is aborted. */
  readonly busy: AbortSignal
  /** Every stream is let go once it is aborted. */
  readonly open: AbortSignal
}

export const CLIENT_INFO: Json = { name: 'soak', version: '1.0.0' }

/** A whole number from `least` to `most`. */
export const between = (least: number, most: number): number => least + Math.floor(Math.random() * (most - least + 1))

/** Milliseconds in which whatever is tried again has to succeed: several times what it takes to see that a node has died. */
const PATIENCE_MS = 25_000
/** Milliseconds between two tries. */
const AGAIN_MS = [100, 300] as const

/** Tries again what is lost with a node, or refused for now. @throws what is neither, or goes on for too long. */
export async function again<Value>({ outages }: World, run: () => Promise<Value>): Promise<Value> {
  const beganMs = Date.now()
  for (;;) {
    const triedMs = Date.now()
    try {
      return await run()
    } catch (error) {
      if (!mayBeTriedAgain(outages, error, triedMs) || Date.now() - beganMs > PATIENCE_MS) throw error
      await sleep(between(...AGAIN_MS))
    }
  }
}

export function mayBeTriedAgain(outages: Outages, error: unknown, beganMs: number): boolean {
  return (error instanceof Refused && error.retryable) || outages.explain(error, beganMs)
}

/** Milliseconds in which each call has to end, whatever happens to its node. */
const CALL_MS = 40_000

/** It has not ended. */
export class Endless extends Error {
  override readonly name = 'Endless'
}

function ending<Value>(run: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Endless(`it has not ended after ${CALL_MS} ms`)), CALL_MS)
    run.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** One request of a call: it has its answer, an error that says to try again, or is lost with a node. @throws in the last two cases. */
export async function counted<Value>(
  { figures, outages }: World,
  what: string,
  run: () => Promise<Value>,
): Promise<Value> {
  const beganMs = Date.now()
  figures.calls++
  try {
    const value = await ending(run())
    figures.answered++
    return value
  } catch (error) {
    if (error instanceof Refused && error.retryable) figures.retryable++
    else if (error instanceof Lost) {
      figures.lost++
      if (!outages.explain(error, beganMs)) figures.wrong('lost', `${what}: ${error.message}`)
    } else figures.wrong('answers', `${what}: ${String(error)}`)
    throw error
  }
}

/** The result in a message. @throws Refused */
export function resultOf(status: number, message: Json | undefined): Json {
  if (message?.['result'] !== undefined) return message['result'] as Json
  throw new Refused(status, (message?.['error'] ?? {}) as Json)
}

/** The text of a result. */
export function textOf(result: Json): unknown {
  return (result['content'] as readonly Json[] | undefined)?.[0]?.['text']
}

const ANSWERS: Json = { name: 'Ada', age: 36 }

/** What the user answers to a form. */
export function answerTo({ figures }: World, params: Json): Json {
  figures.elicitations++
  const { properties } = params['requestedSchema'] as { properties: Json }
  const content = Object.fromEntries(Object.keys(properties).map((name) => [name, ANSWERS[name]]))
  return { action: 'accept', content }
}
