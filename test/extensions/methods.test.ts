import { createRouter, Extension } from 'phantom-mcp'
import { RpcError } from 'phantom-mcp/testing'
import { expect, test } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'
import { createWeather, DECLARED, STATELESS, WEATHER, weatherRouter } from './_weather.js'

const place = (name: string) => () => ({ 'mcp-name': name })

async function errorOf(answer: Promise<unknown>): Promise<{ code: number; message: string; data: unknown }> {
  const error = await answer.then(
    () => expect.unreachable('an error was expected'),
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(RpcError)
  const { code, message, data } = error as RpcError
  return { code, message, data }
}

describeMatrix('methods of an extension', {}, (setup, { version, http }) => {
  const here = version === STATELESS

  verifies('ext.declared', 'it is declared with its settings, in the versions that it exists in', async () => {
    const client = await setup(weatherRouter(createWeather()), { capabilities: DECLARED })
    const told = client.initialized ?? (await client.request('server/discover'))
    const { extensions, resources } = told['capabilities'] as Record<string, unknown>
    expect(extensions).toEqual(here ? { [WEATHER]: { unit: 'celsius' } } : undefined)
    expect(resources).toBeDefined()
  })

  verifies('ext.method', 'a method is served where the version has the extension', async () => {
    const client = await setup(weatherRouter(createWeather()), { capabilities: DECLARED, headers: place('Oslo') })
    const answer = client.request('weather/now', { place: 'Oslo', unknown: 1 })
    if (!here) {
      expect(await errorOf(answer)).toMatchObject({ code: -32601 })
      return
    }
    expect(await answer).toMatchObject({
      place: 'Oslo',
      degrees: 10,
      resultType: 'complete',
      ttlMs: 1000,
      cacheScope: 'public',
    })
  })

  verifies('ext.undeclared', 'whoever does not declare it gets -32021 with what is missing', async () => {
    const client = await setup(weatherRouter(createWeather()), { headers: place('Nowhere') })
    expect(await errorOf(client.request('weather/now', { place: 'Nowhere' }))).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: DECLARED },
    })
    if (http) expect(setup.wire.statuses.at(-1)).toBe(400)
    expect(await client.request('weather/places')).toMatchObject({ places: ['Bonn', 'Cork'] })
  })

  if (!here) return

  test('parameters that do not fit are -32602, by name', async () => {
    const client = await setup(weatherRouter(createWeather()), { capabilities: DECLARED })
    expect(await errorOf(client.request('weather/now', {}))).toEqual({
      code: -32602,
      message: 'Invalid parameters: place is required',
      data: { validation_errors: ['place is required'] },
    })
  })

  verifies('ext.mirrored', 'the parameter that a header repeats has to be the same', async () => {
    const client = await setup(weatherRouter(createWeather()), { capabilities: DECLARED, headers: place('Bonn') })
    expect(await errorOf(client.request('weather/now', { place: 'Oslo' }))).toMatchObject({ code: -32020 })
    expect(setup.wire.statuses).toEqual([400])
  })

  test('lists are cut by the page size of the router, and foreign cursors refused', async () => {
    const client = await setup(weatherRouter(createWeather()))
    const first = await client.request('weather/places')
    const second = await client.request('weather/places', { cursor: first['nextCursor'] })
    expect([first['places'], second['places'], second['nextCursor']]).toEqual([['Bonn', 'Cork'], ['Oslo'], undefined])
    expect(await errorOf(client.request('weather/places', { cursor: 7 }))).toMatchObject({ code: -32602 })
    expect(await errorOf(client.request('weather/places', { cursor: 'x' }))).toMatchObject({ code: -32602 })
  })

  test('what is no object is masked, and reported', async () => {
    const client = await setup(weatherRouter(createWeather()), { capabilities: DECLARED })
    expect(await errorOf(client.request('weather/broken'))).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(String(setup.expectErrors(1)[0])).toContain(`extension '${WEATHER}', method 'weather/broken' must return`)
  })

  test('one that hides itself from a caller is not there for them', async () => {
    const hidden: Extension = {
      id: WEATHER,
      settings: (session) => (session.clientInfo?.name === 'known' ? {} : undefined),
      methods: { 'weather/now': Extension.method({}, () => ({ ok: true })) },
    }
    const router = createRouter({ name: 'test', version: '1.0.0', extensions: [hidden] })
    const client = await setup(router)
    expect((await client.request('server/discover'))['capabilities']).not.toHaveProperty('extensions')
    expect(await errorOf(client.request('weather/now'))).toMatchObject({ code: -32601 })
    if (http) expect(setup.wire.statuses.at(-1)).toBe(404)
    const known = await setup.another({ clientInfo: { name: 'known', version: '1.0.0' } })
    expect(await known.request('weather/now')).toMatchObject({ ok: true })
  })
})

describeMatrix('resources of an extension', {}, (setup, { version }) => {
  const missing = version === STATELESS ? -32602 : -32002

  test('come behind those of the router, page by page', async () => {
    const weather = createWeather()
    const client = await setup(weatherRouter({ ...weather, extension: { ...weather.extension, versions: [version] } }))
    const first = await client.list('resources')
    const second = await client.list('resources', first.nextCursor)
    const uris = [first, second].map(({ resources }) => (resources as { uri: string }[]).map(({ uri }) => uri))
    expect(uris).toEqual([['test://one', 'weather://Bonn'], ['weather://Oslo']])
    expect(second.nextCursor).toBeUndefined()
    for (const cursor of ['', 'x', 'WzksbnVsbF0=', 'WzAsMV0='])
      expect(await errorOf(client.list('resources', cursor))).toMatchObject({ code: -32602 })
  })

  test('are read where the router has nothing at the URI', async () => {
    const weather = createWeather()
    const client = await setup(weatherRouter({ ...weather, extension: { ...weather.extension, versions: [version] } }))
    expect((await client.readResource('test://one')).contents).toEqual([
      { uri: 'test://one', mimeType: 'text/plain', text: '1' },
    ])
    expect((await client.readResource('weather://Bonn')).contents).toEqual([
      { uri: 'weather://Bonn', mimeType: 'text/plain', text: 'sunny' },
    ])
    expect(await errorOf(client.readResource('weather://Rome'))).toMatchObject({
      code: missing,
      data: { uri: 'weather://Rome' },
    })
  })

  test('are not there in a version without the extension', async () => {
    const other = version === STATELESS ? ('2025-11-25' as const) : (STATELESS as '2026-07-28')
    const weather = createWeather()
    const client = await setup(weatherRouter({ ...weather, extension: { ...weather.extension, versions: [other] } }))
    const { resources, nextCursor } = await client.list('resources')
    expect([resources, nextCursor]).toEqual([[expect.objectContaining({ uri: 'test://one' })], undefined])
    expect(await errorOf(client.readResource('weather://Bonn'))).toMatchObject({ code: missing })
  })
})
