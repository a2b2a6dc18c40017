import type { Awaitable } from '../awaitable.js'
import { BUILT } from './built.js'
import type { Session } from './session.js'

/** How a call went: what it answered, or what was thrown. Made by the server; middleware passes it on. */
export type Outcome =
  | { readonly [BUILT]: 'outcome'; readonly ok: true; readonly result: object }
  | { readonly [BUILT]: 'outcome'; readonly ok: false; readonly error: unknown }

/**
 * Runs around each request: `next()` runs the rest and resolves with its outcome, which has to be returned. It does not
 * reject: what a handler throws is `outcome.error`. Throw an `McpError` instead of calling `next` to refuse the request.
 *
 * @example
 * router.use(async (session, next) => {
 *   const outcome = await next()
 *   audit(session.call.method, outcome.ok)
 *   return outcome
 * })
 */
export type Middleware<Assigns extends object = object> = (
  session: Session<Assigns>,
  next: () => Promise<Outcome>,
) => Awaitable<Outcome>

/** Runs a request inside of a chain of middleware, outermost first. @throws what the outcome tells of. */
export async function runInside<Value extends object>(
  chain: readonly Middleware<never>[],
  session: Session<never>,
  run: () => Awaitable<Value>,
): Promise<object> {
  const step = (index: number): Promise<Outcome> => {
    const middleware = chain[index]
    return middleware === undefined ? settle(run) : once(middleware, session, () => step(index + 1))
  }
  const outcome = await step(0)
  if (outcome.ok) return outcome.result
  throw outcome.error
}

async function settle(run: () => Awaitable<object>): Promise<Outcome> {
  try {
    return { [BUILT]: 'outcome', ok: true, result: await run() }
  } catch (error) {
    return failed(error)
  }
}

const failed = (error: unknown): Outcome => ({ [BUILT]: 'outcome', ok: false, error })

async function once(
  middleware: Middleware<never>,
  session: Session<never>,
  rest: () => Promise<Outcome>,
): Promise<Outcome> {
  let called = false
  const next = async (): Promise<Outcome> => {
    if (called) return failed(new TypeError(`${nameOf(middleware)} called next() twice: a request is served once`))
    called = true
    return await rest()
  }
  try {
    const outcome: unknown = await middleware(session, next)
    return isOutcome(outcome)
      ? outcome
      : failed(new TypeError(`${nameOf(middleware)} must return what next() resolved to`))
  } catch (error) {
    return failed(error)
  }
}

const nameOf = (middleware: Middleware<never>): string =>
  `Middleware ${middleware.name === '' ? '' : `'${middleware.name}' `}`.trimEnd()

function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && (value as Partial<Outcome>)[BUILT] === 'outcome'
}
