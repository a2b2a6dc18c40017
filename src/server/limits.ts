import type { Awaitable } from '../awaitable.js'
import type { ToolDefinition } from '../router/tool.js'
import { CallTimedOut } from './call-over.js'
import type { CallSession } from './call-session.js'

/** Calls of one tool that run at once; the others stand in line. */
class Slots {
  #free: number
  readonly #line = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves when it is the call's turn; rejects when the client has given it up before. */
  take(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const go = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#line.delete(go)
        reject(signal.reason as Error)
      }
      this.#line.add(go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  give(): void {
    const [next] = this.#line
    if (next === undefined) this.#free++
    else {
      this.#line.delete(next)
      next()
    }
  }
}

/** Keeps calls within what their tools may cost. Tools without limits are not slowed. */
export class Limits {
  readonly #slots = new WeakMap<ToolDefinition<never>, Slots>()

  /** @throws CallTimedOut when the tool has used up its time; its handler is told by its signal. */
  run<Value>(tool: ToolDefinition<never>, session: CallSession, handler: () => Awaitable<Value>): Awaitable<Value> {
    const { maxConcurrency, timeoutMs } = tool.limits
    if (maxConcurrency === undefined && timeoutMs === undefined) return handler()
    const timed = (): Promise<Value> =>
      timeoutMs === undefined ? Promise.resolve(handler()) : withinTime(timeoutMs, session, handler)
    return maxConcurrency === undefined ? timed() : this.#inTurn(tool, session, timed)
  }

  async #inTurn<Value>(tool: ToolDefinition<never>, session: CallSession, run: () => Promise<Value>): Promise<Value> {
    const slots = this.#slotsOf(tool)
    const { signal } = session
    await slots.take(signal)
    let held = true
    // A call that was given up is over, whatever its handler goes on to do.
    const give = (): void => {
      if (held) slots.give()
      held = false
    }
    const takeAgain = async (): Promise<void> => {
      await slots.take(signal)
      held = true
    }
    signal.addEventListener('abort', give, { once: true })
    const leave = session.pausing.add({ pause: give, resume: takeAgain })
    try {
      return await run()
    } finally {
      signal.removeEventListener('abort', give)
      leave()
      give()
    }
  }

  #slotsOf(tool: ToolDefinition<never>): Slots {
    const slots = this.#slots.get(tool) ?? new Slots(tool.limits.maxConcurrency ?? 1)
    this.#slots.set(tool, slots)
    return slots
  }
}

/** The call is over when its time is; what the handler does afterwards is its own. */
export function withinTime<Value>(ms: number, session: CallSession, run: () => Awaitable<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const expire = (): void => {
      const reason = new CallTimedOut(`The call did not finish within ${ms} ms`)
      session.expire(reason)
      reject(reason)
    }
    let left = ms
    let startedMs = Date.now()
    let timer = setTimeout(expire, ms)
    const leave = session.pausing.add({
      pause: () => {
        clearTimeout(timer)
        left -= Date.now() - startedMs
      },
      resume: () => {
        startedMs = Date.now()
        timer = setTimeout(expire, Math.max(1, left))
      },
    })
    const settled = (): void => {
      clearTimeout(timer)
      leave()
    }
    new Promise<Value>((start) => start(run())).then(resolve, reject).finally(settled)
  })
}
