import type { Awaitable } from '../awaitable.js'
import type { AnyDefinition, Offered } from '../router/catalogue.js'
import { type Middleware, runInside } from '../router/middleware.js'
import type { Target } from './asking/thread.js'
import type { CallSession } from './call-session.js'
import type { ServerContext } from './context.js'

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

/** What can ask its client, with the steps of its own router. */
export function targetOf({ router }: ServerContext, { scopes, definition }: Offered, replay: boolean): Target {
  const { steps } = scopes.at(-1)?.catalogue ?? router.catalogue
  return { kind: definition.kind, name: definition.name, replay, steps }
}

function ownMiddleware(definition: AnyDefinition): readonly Middleware<never>[] {
  return definition.kind === 'tool' ? (definition.limits.middleware ?? NONE) : NONE
}

const NONE: readonly Middleware<never>[] = []
