import { describe, expect, test } from 'vitest'
import { errorMessage, isObject, isRequestId, notificationMessage, parseMessage, resultMessage } from './jsonrpc.js'

const refused = (value: unknown): unknown => {
  const message = parseMessage(value)
  return message.kind === 'invalid' ? [message.id, message.failure.code] : message.kind
}

describe('a message', () => {
  test('with method and id is a request', () => {
    expect(parseMessage({ jsonrpc: '2.0', id: 'a', method: 'm', params: { x: 1 } })).toEqual({
      kind: 'request',
      id: 'a',
      method: 'm',
      params: { x: 1 },
    })
    expect(parseMessage({ jsonrpc: '2.0', id: 0, method: '' })).toEqual({
      kind: 'request',
      id: 0,
      method: '',
      params: {},
    })
  })

  test('with a method alone is a notification', () => {
    expect(parseMessage({ jsonrpc: '2.0', method: 'm' })).toEqual({ kind: 'notification', method: 'm', params: {} })
  })

  test('with a result or an error is a response', () => {
    expect(parseMessage({ jsonrpc: '2.0', id: 1, result: null })).toMatchObject({
      kind: 'response',
      id: 1,
      result: null,
    })
    expect(parseMessage({ jsonrpc: '2.0', id: null, error: {} })).toMatchObject({ kind: 'response', id: undefined })
    expect(parseMessage({ jsonrpc: '2.0', error: {} })).toMatchObject({ kind: 'response', id: undefined })
  })

  test.each([
    ['no object', ['text', undefined]],
    ['null', [null, undefined]],
    ['a list', [[], undefined]],
    ['no version', [{ id: 1, method: 'm' }, 1]],
    ['another version', [{ jsonrpc: '1.0', id: 'x', method: 'm' }, 'x']],
    ['a method that is no text', [{ jsonrpc: '2.0', id: 1, method: {} }, 1]],
    ['neither method nor answer', [{ jsonrpc: '2.0', id: 1 }, 1]],
    ['result and error', [{ jsonrpc: '2.0', id: 1, result: 1, error: {} }, 1]],
    ['a response with a bad id', [{ jsonrpc: '2.0', id: {}, result: 1 }, undefined]],
  ])('that has or is %s is no request', (_title, [value, id]) => {
    expect(refused(value)).toEqual([id, 'INVALID_REQUEST'])
  })

  test.each([null, 1.5, true, {}, [1], 2 ** 53, Number.NaN])('with the id %s is refused', (id) => {
    expect(refused({ jsonrpc: '2.0', id, method: 'm' })).toEqual([undefined, 'INVALID_REQUEST'])
  })

  test.each([['text'], [[1]], [5], [null], [true]])('with %j as parameters is malformed', (params) => {
    expect(refused({ jsonrpc: '2.0', id: 7, method: 'm', params })).toEqual([7, 'INVALID_PARAMS'])
  })

  test('has only members of its own', () => {
    const inherits = Object.create({ method: 'm', id: 1, jsonrpc: '2.0' }) as object
    expect(refused(inherits)).not.toBe('request')
    expect(parseMessage(JSON.parse('{"jsonrpc":"2.0","id":1,"method":"m","__proto__":{"method":"x"}}'))).toMatchObject({
      method: 'm',
    })
  })
})

test('ids are text or integers that stay what they are', () => {
  expect([0, -5, '', '0', Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER].filter((id) => !isRequestId(id))).toEqual(
    [],
  )
  expect([null, undefined, 0.5, 2 ** 53, Number.POSITIVE_INFINITY, {}, [], true].filter(isRequestId)).toEqual([])
})

test('objects are neither null nor lists', () => {
  expect([{}, Object.create(null)].every(isObject)).toBe(true)
  expect([null, undefined, [], 'x', 5, () => 1].some(isObject)).toBe(false)
})

test('messages are written as JSON', () => {
  expect(JSON.parse(resultMessage('a"b', '{"x":1}') as string)).toEqual({ jsonrpc: '2.0', id: 'a"b', result: { x: 1 } })
  const error = { code: -32600, message: 'no' }
  expect(errorMessage(undefined, error)).toBe('{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}')
  expect(errorMessage('null', error)).toBe('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}')
  expect(notificationMessage('m')).toBe('{"jsonrpc":"2.0","method":"m"}')
  expect(notificationMessage('m', { a: 1 })).toBe('{"jsonrpc":"2.0","method":"m","params":{"a":1}}')
})
