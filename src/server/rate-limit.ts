import { TokenBucket } from 'limiter'
import { McpError } from '../errors.js'
import { assertCounts, assertOptions } from '../options.js'
import type { Middleware } from '../router/middleware.js'
import type { CallSession } from './call-session.js'

/**
 * A bucket of `limit`, which fills again at the pace of `limit` in `windowMs` milliseconds: `{ limit: 60, windowMs: 60_000 }`
 * lets 60 come at once, and one a second from then on.
 */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
}

/** What {@link rateLimit} limits, on each node by itself. */
export interface RateLimitOptions {
  /** Requests of one caller; callers without a principal are told apart by session, and else counted together. */
  readonly perPrincipal?: Rate
  /** Calls of each tool by one caller: one rate for all tools, or one by name. */
  readonly perTool?: Rate | Readonly<Record<string, Rate>>
  /** Progress and log notifications of one call: those beyond are dropped. */
  readonly perCall?: { readonly progress?: Rate; readonly log?: Rate }
  /** Callers that are remembered at once; the one that was quiet longest is forgotten first. @default 10_000 */
  readonly maxCallers?: number
}

const OPTIONS = ['perPrincipal', 'perTool', 'perCall', 'maxCallers']

/**
 * Middleware that refuses what is too much with a retryable error (2026-07-28 server/tools and server/utilities/completion,
 * Security). It counts on this node only; several nodes allow as many times more.
 *
 * @throws TypeError for an option that is unknown or out of range.
 * @example
 * router.use(rateLimit({ perPrincipal: { limit: 600, windowMs: 60_000 }, perTool: { export: { limit: 5, windowMs: 60_000 } } }))
 */
export function rateLimit<Assigns extends object = object>(options: RateLimitOptions): Middleware<Assigns> {
  assertRateLimit(options)
  const { perPrincipal, perTool, perCall, maxCallers = 10_000 } = options
  const requests = perPrincipal && new Buckets(() => perPrincipal, maxCallers)
  const calls = perTool && new Buckets((tool) => rateOf(perTool, tool), maxCallers)
  return async (session, next) => {
    const caller = session.principal ?? session.id ?? ''
    requests?.take('', caller)
    const { method, name } = session.call
    const internal = session as unknown as CallSession
    // A name that is no tool takes no place: a client could push out what is counted.
    if (method === 'tools/call' && name !== undefined && internal.hasTool(name)) calls?.take(name, caller)
    if (perCall !== undefined) limitCall(internal, perCall)
    return await next()
  }
}

function limitCall(session: CallSession, { progress, log }: NonNullable<RateLimitOptions['perCall']>): void {
  const progressBucket = progress && bucket(progress)
  const logBucket = log && bucket(log)
  session.limitNotifications((method) => {
    const limited = method === 'notifications/progress' ? progressBucket : logBucket
    return limited === undefined || limited.tryRemoveTokens(1)
  })
}

function bucket({ limit, windowMs }: Rate): TokenBucket {
  const made = new TokenBucket({ bucketSize: limit, tokensPerInterval: limit, interval: windowMs })
  made.content = limit
  return made
}

const isRate = (value: Rate | Readonly<Record<string, Rate>>): value is Rate => typeof value['limit'] === 'number'

function rateOf(perTool: Rate | Readonly<Record<string, Rate>>, tool: string): Rate | undefined {
  if (isRate(perTool)) return perTool
  return Object.hasOwn(perTool, tool) ? perTool[tool] : undefined
}

/** Buckets by subject and caller, in the order of their last use. */
class Buckets {
  readonly #rate: (subject: string) => Rate | undefined
  readonly #max: number
  readonly #all = new Map<string, TokenBucket>()

  constructor(rate: (subject: string) => Rate | undefined, max: number) {
    this.#rate = rate
    this.#max = max
  }

  /** @throws McpError when there is none left. */
  take(subject: string, caller: string): void {
    const rate = this.#rate(subject)
    if (rate === undefined) return
    const key = JSON.stringify([subject, caller])
    const found = this.#all.get(key) ?? bucket(rate)
    this.#all.delete(key)
    this.#all.set(key, found)
    if (this.#all.size > this.#max) this.#all.delete(this.#all.keys().next().value as string)
    if (found.tryRemoveTokens(1)) return
    const retryAfterMs = Math.ceil(rate.windowMs / rate.limit)
    const data = { reason: 'rate_limited', retryable: true, retryAfterMs }
    throw new McpError('INTERNAL_ERROR', 'Too many requests: try again later', { data })
  }
}

function assertRateLimit(options: RateLimitOptions): void {
  assertOptions('rateLimit', options, OPTIONS)
  assertCounts('rateLimit', options, ['maxCallers'])
  const { perPrincipal, perTool, perCall } = options
  if (perPrincipal !== undefined) assertRate('perPrincipal', perPrincipal)
  assertObject('perTool', perTool)
  if (perTool !== undefined && isRate(perTool)) assertRate('perTool', perTool)
  else for (const [tool, rate] of Object.entries(perTool ?? {})) assertRate(`perTool, '${tool}'`, rate)
  assertObject('perCall', perCall)
  if (perCall === undefined) return
  assertOptions('rateLimit, perCall', perCall, ['progress', 'log'])
  for (const [kind, rate] of Object.entries(perCall)) assertRate(`perCall, ${kind}`, rate)
}

function assertObject(option: string, value: unknown): void {
  if (value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))) return
  throw new TypeError(`rateLimit, ${option}: this must be an object of rates, { limit, windowMs }`)
}

/** A rate that is undefined is one that was not given. */
function assertRate(what: string, rate: Rate | undefined): void {
  if (rate === undefined) return
  assertOptions(`rateLimit, ${what}`, rate, ['limit', 'windowMs'])
  assertCounts(`rateLimit, ${what}`, rate, ['limit', 'windowMs'])
  if (rate.limit === undefined || rate.windowMs === undefined) {
    throw new TypeError(`rateLimit: ${what} must be { limit, windowMs }`)
  }
}
