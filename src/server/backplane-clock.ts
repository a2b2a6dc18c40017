import type { Backplane } from '../backplane/backplane.js'
import { EngineClock } from '../backplane/engine-clock.js'
import { quietTimer } from '../options.js'
import type { ResolvedServerOptions } from './server-options.js'

/**
 * The time of the backplane, so that times that another node has written mean the same here; that of the options where one was given.
 * `closers` gets what ends it.
 */
export function backplaneClock(
  { time }: Backplane,
  { clock, ownClock, heartbeatMs }: ResolvedServerOptions,
  closers: Set<() => void>,
): () => number {
  if (ownClock || time === undefined) return clock
  const shared = new EngineClock(time)
  // Why it fails is told by whatever else is asked of the backplane.
  const keep = (): void => void shared.keep()?.catch(() => undefined)
  keep()
  const timer = quietTimer(keep, heartbeatMs)
  closers.add(() => clearInterval(timer))
  return shared.now
}
