import { describe, expect, test } from 'vitest'
import { type Middleware, type Outcome, runInside } from './middleware.js'

const session = {} as never
const pass: Middleware = (_session, next) => next()
const run = (chain: readonly Middleware[], inner: () => object | Promise<object>): Promise<object> =>
  runInside(chain as readonly Middleware<never>[], session, inner)

describe('a chain of middleware', () => {
  test('without members runs what is inside', async () => {
    const result = { a: 1 }
    expect(await run([], () => result)).toBe(result)
    const error = new Error('inside')
    await expect(
      run([], () => {
        throw error
      }),
    ).rejects.toBe(error)
  })

  test('hands the result and what was thrown through, as they are', async () => {
    const result = { a: 1 }
    expect(await run([pass, pass], async () => result)).toBe(result)
    for (const error of [new Error('x'), 'text', undefined]) {
      await expect(run([pass, pass], () => Promise.reject(error))).rejects.toBe(error)
    }
  })

  test('does not run what is inside when a member throws', async () => {
    let ran = 0
    const error = new Error('refused')
    const refuse: Middleware = () => {
      throw error
    }
    await expect(run([pass, refuse, pass], () => ({ ran: ++ran }))).rejects.toBe(error)
    expect(ran).toBe(0)
  })

  test('shows members outside what a member inside has thrown', async () => {
    const seen: Outcome[] = []
    const watch: Middleware = async (_session, next) => {
      const outcome = await next()
      seen.push(outcome)
      return outcome
    }
    const error = new Error('refused')
    await expect(run([watch, () => Promise.reject(error)], () => ({}))).rejects.toBe(error)
    expect(seen).toMatchObject([{ ok: false, error }])
  })

  test('may recover with the outcome of another run', async () => {
    const other = await new Promise<Outcome>((resolve) => {
      void run(
        [
          async (_session, next) => {
            const outcome = await next()
            resolve(outcome)
            return outcome
          },
        ],
        () => ({ from: 'cache' }),
      )
    })
    expect(await run([() => other], () => ({ from: 'handler' }))).toEqual({ from: 'cache' })
  })

  test('runs what is inside once, however often next is called', async () => {
    let ran = 0
    const twice: Middleware = async function twice(_session, next) {
      const [first, second] = await Promise.all([next(), next()])
      expect(second.ok).toBe(false)
      return first
    }
    expect(await run([twice], () => ({ ran: ++ran }))).toEqual({ ran: 1 })
    const last: Middleware = async function last(_session, next) {
      await next()
      return await next()
    }
    await expect(run([last], () => ({}))).rejects.toThrow(/'last' called next\(\) twice/)
  })

  test.each([undefined, null, {}, 'ok', { ok: true, result: {} }])(
    'names the member that returns %j',
    async (value) => {
      const forgetful = function forgetful(): never {
        return value as never
      }
      await expect(run([pass, forgetful], () => ({}))).rejects.toThrow(/'forgetful' must return/)
      await expect(run([() => value as never], () => ({}))).rejects.toThrow(TypeError)
    },
  )
})
