import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { DispatchEvent } from 'phantom-mcp'
import { afterTest } from '../http/_http.js'

export type SpanName = 'request' | 'dispatch' | 'stream'
export type EventName = 'connect' | 'disconnect' | 'terminate' | 'exception'
export type Phase = 'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error'

const PHASES: readonly Phase[] = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']

/** A message of a tracing channel: its object, and what it was at that time. */
export interface SpanTold<Event> {
  readonly phase: Phase
  readonly event: Event
  /** A copy of the members that the event had then. */
  readonly members: Readonly<Record<string, unknown>>
}

/** Subscribes until the test is over. */
export function watchSpans<Event extends object>(name: SpanName): SpanTold<Event>[] {
  const told: SpanTold<Event>[] = []
  const subscribers = Object.fromEntries(
    PHASES.map((phase) => [
      phase,
      (event: object) => void told.push({ phase, event: event as Event, members: { ...event } }),
    ]),
  ) as unknown as Parameters<ReturnType<typeof tracingChannel>['subscribe']>[0]
  const watched = tracingChannel(`phantom:${name}`)
  watched.subscribe(subscribers)
  afterTest(() => void watched.unsubscribe(subscribers))
  return told
}

/** Subscribes until the test is over. */
export function watchEvents<Event extends object>(name: EventName): Event[] {
  const told: Event[] = []
  const subscriber = (message: unknown): void => void told.push(message as Event)
  const watched = channel(`phantom:${name}`)
  watched.subscribe(subscriber)
  afterTest(() => void watched.unsubscribe(subscriber))
  return told
}

/** The phases of one event, in order. */
export function phasesOf<Event extends object>(told: readonly SpanTold<Event>[], event: object | undefined): Phase[] {
  return told.filter((one) => one.event === event).map(({ phase }) => phase)
}

/** The events that are over. */
export function overOf<Event extends object>(told: readonly SpanTold<Event>[]): Event[] {
  return told.filter(({ phase }) => phase === 'asyncEnd').map(({ event }) => event)
}

/** The calls of one method, by `start`. */
export function startsOf(told: readonly SpanTold<DispatchEvent>[], method: string): SpanTold<DispatchEvent>[] {
  return told.filter(({ phase, event }) => phase === 'start' && event.method === method)
}
