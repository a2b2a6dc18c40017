import { createRouter, createServer, defineFor, type Extension } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { createWeather, WEATHER, weatherRouter } from './_weather.js'

const make = (...extensions: readonly unknown[]): unknown =>
  createRouter({ name: 'test', version: '1.0.0', extensions: extensions as readonly Extension[] })
const handler = (): object => ({})
const row = { authorize: () => null, deliver: () => null }

describe('an extension is refused at start', () => {
  test.each([
    ['an id without a prefix', { id: 'weather' }, "extension 'weather': an id is a prefix and a name"],
    ['an unknown member', { id: WEATHER, method: {} }, "unknown option 'method'; known are id,"],
    ['an unknown version', { id: WEATHER, versions: ['2020-01-01'] }, "version '2020-01-01' is none of 2024-11-05,"],
    [
      'a method of the protocol',
      { id: WEATHER, methods: { 'tools/call': { handler } } },
      `extension '${WEATHER}', method 'tools/call': the protocol has it already`,
    ],
    [
      'a method of an older version',
      { id: WEATHER, methods: { ping: { handler } } },
      "method 'ping': the protocol has it already",
    ],
    [
      'a method without a handler',
      { id: WEATHER, methods: { 'a/b': {} } },
      "method 'a/b', handler: it must be a function",
    ],
    [
      'a misspelt member of a method',
      { id: WEATHER, methods: { 'a/b': { handler, cached: true } } },
      "method 'a/b': unknown option 'cached'",
    ],
    [
      'a filter of the protocol',
      { id: WEATHER, listens: { resourceSubscriptions: row } },
      "listen filter 'resourceSubscriptions': the protocol has it already",
    ],
    [
      'a resultType of the protocol',
      { id: WEATHER, outcomes: { complete: { answer: handler } } },
      "outcome 'complete': the protocol has it already",
    ],
    ['resources that cannot be read', { id: WEATHER, resources: {} }, 'resources.read: it must be a function'],
    [
      'a resolve that is no function',
      { id: WEATHER, resources: { read: handler, resolve: 1 } },
      'resources.resolve: it must be a function',
    ],
    [
      'a scheme with a colon',
      { id: WEATHER, resources: { read: handler, scheme: 'skill:' } },
      'resources.scheme must be lower-case letters and digits',
    ],
  ])('%s', (_what, extension, message) => {
    expect(() => make(extension)).toThrow(TypeError)
    expect(() => make(extension)).toThrow(message)
  })

  test('two of the same id, or with the same method', () => {
    const one = { id: WEATHER, methods: { 'a/b': { handler } } }
    expect(() => make(one, { id: WEATHER })).toThrow(`extension '${WEATHER}' is there twice`)
    expect(() => make(one, { ...one, id: 'com.example/other' })).toThrow(
      `extension 'com.example/other', method 'a/b': extension '${WEATHER}' has it already`,
    )
  })
})

describe('options that an extension adds', () => {
  test('are checked by it', () => {
    const router = weatherRouter(createWeather())
    expect(() => router.tool('x', { forecast: 'maybe' as never }, () => 'ok')).toThrow(
      "tool 'x': forecast must be 'never' or 'required'",
    )
    const misspelt = { forcast: 'never' } as object
    expect(() => router.tool('x', misspelt, () => 'ok')).toThrow(
      /^tool 'x': unknown option 'forcast'; known are .*forecast/,
    )
  })

  test('are unknown without it', () => {
    const router = createRouter({ name: 'test', version: '1.0.0' })
    expect(() => router.tool('x', { forecast: 'never' }, () => 'ok')).toThrow("tool 'x': unknown option 'forecast'")
    const defined = defineFor().tool('x', { forecast: 'never' }, () => 'ok')
    expect(() => router.add(defined)).toThrow("tool 'x': unknown option 'forecast'")
    expect(() => weatherRouter(createWeather()).add(defined)).not.toThrow()
  })
})

test('a mounted router needs its extensions in the outer one', () => {
  const weather = createWeather()
  const outer = createRouter({ name: 'outer', version: '1.0.0' })
  expect(() => outer.mount('in', weatherRouter(weather))).toThrow(
    `router.mount: 'in' has the extension '${WEATHER}': give the same one to the outer router's extensions`,
  )
})

test('an extension is attached to each server, and may finish its work before the server is closed', async () => {
  const weather = createWeather()
  const router = weatherRouter(weather)
  const servers = [createServer(router), createServer(router)]
  expect(weather.hosts).toHaveLength(2)
  const steps: string[] = []
  weather.hosts[0]?.onClose(async () => {
    await new Promise((resolve) => setTimeout(resolve, 10))
    steps.push('finished')
  })
  weather.hosts[0]?.onClose((signal) => {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        setTimeout(() => {
          steps.push('written down')
          resolve()
        }, 20)
      })
    })
  })
  await servers[0]?.close({ drainMs: 30 })
  expect(steps).toEqual(['finished', 'written down'])
  await servers[1]?.close()
})
