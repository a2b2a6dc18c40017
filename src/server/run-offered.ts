import { type Awaitable, isPromise } from '../awaitable.js'
import type { AnyDefinition, Offered } from '../router/catalogue.js'
import { type Middleware, runInside } from '../router/middleware.js'
import type { CallSession } from './call-session.js'

/**
 * Runs what was offered where it belongs: inside the middleware of the routers that it was mounted from, and of its own,
 * and with their names.
 */
export function runOffered<Value extends object>(
  offered: Offered,
  session: CallSession,
  run: () => Awaitable<Value>,
): Awaitable<Value> {
  const { scopes, definition, prefix } = offered
  const inner = scopes.at(-1)
  if (inner !== undefined) session.enter(inner.catalogue, prefix)
  const own = ownMiddleware(definition)
  if (scopes.length === 0 && own.length === 0) return run()
  const chain = [...scopes.flatMap(({ middleware }) => middleware), ...own]
  return runInside(chain, session as never, run) as Promise<Value>
}

function ownMiddleware(definition: AnyDefinition): readonly Middleware<never>[] {
  return definition.kind === 'tool' ? (definition.limits.middleware ?? NONE) : NONE
}

const NONE: readonly Middleware<never>[] = []

/** Goes on at once with what is there already, so that a call without promises is answered in the turn that asked. */
export function andThen<Value, Next>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Next>,
): Awaitable<Next> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}
