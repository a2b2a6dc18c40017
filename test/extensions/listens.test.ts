import { createServer, type Json, memoryBackplane } from 'phantom-mcp'
import { connect, RpcError, type TestClient } from 'phantom-mcp/testing'
import { expect, test } from 'vitest'
import { describeMatrix, verifies } from '../_setup.js'
import { createWeather, DECLARED, STATELESS, weatherRouter } from './_weather.js'

const ID = 'io.modelcontextprotocol/subscriptionId'
const ACK = 'notifications/subscriptions/acknowledged'
const TOLD = 'notifications/weather'

function listen(client: TestClient, id: string, notifications: Json): { ended: Promise<unknown>; stop: () => void } {
  const controller = new AbortController()
  const call = { method: 'subscriptions/listen', params: { notifications } }
  const ended = client.requestAs(id, call, { signal: controller.signal })
  ended.catch(() => undefined)
  return { ended, stop: () => controller.abort() }
}

const acknowledged = async (client: TestClient): Promise<Json> => {
  await expect.poll(() => client.notified(ACK)).toHaveLength(1)
  return client.notified(ACK)[0] as Json
}

describeMatrix('listen filters of an extension', { versions: [STATELESS] }, (setup, { http }) => {
  verifies('ext.listen', 'are acknowledged with what is allowed, and tell with the id of the listen', async () => {
    const weather = createWeather()
    const client = await setup(weatherRouter(weather), { capabilities: DECLARED })
    const { stop } = listen(client, 'l1', { places: ['Oslo', 'Cork', 'Rome'], toolsListChanged: true })
    expect(await acknowledged(client)).toEqual({
      _meta: { [ID]: 'l1' },
      notifications: { toolsListChanged: true, places: ['Oslo'] },
    })
    for (const place of ['Cork', 'Oslo']) await weather.hosts[0]?.notifyListeners('places', place)
    await expect.poll(() => client.notified(TOLD)).toEqual([{ place: 'Oslo', _meta: { [ID]: 'l1' } }])
    stop()
  })

  verifies('ext.recheck', 'ask again before each delivery', async () => {
    const weather = createWeather()
    const client = await setup(weatherRouter(weather), { capabilities: DECLARED })
    const { stop } = listen(client, 'l1', { places: ['Oslo', 'Bonn'] })
    await acknowledged(client)
    weather.open.delete('Oslo')
    await weather.hosts[0]?.notifyListeners('places', 'Oslo')
    await weather.hosts[0]?.notifyListeners('places', 'Bonn')
    await expect.poll(() => client.notified(TOLD)).toMatchObject([{ place: 'Bonn' }])
    weather.open.add('Oslo')
    await weather.hosts[0]?.notifyListeners('places', 'Bonn')
    await weather.hosts[0]?.notifyListeners('places', 'Oslo')
    await expect.poll(() => client.notified(TOLD)).toMatchObject([{ place: 'Bonn' }, { place: 'Oslo' }])
    stop()
  })

  test('a burst is told once more, and in order', async () => {
    const weather = createWeather()
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let asked = 0
    weather.beforeDelivery = () => (asked++ === 0 ? gate : undefined)
    const client = await setup(weatherRouter(weather), { capabilities: DECLARED })
    const { stop } = listen(client, 'l1', { places: ['Oslo'] })
    await acknowledged(client)
    for (let count = 0; count < 50; count++) await weather.hosts[0]?.notifyListeners('places', 'Oslo')
    release()
    await expect.poll(() => client.notified(TOLD)).toHaveLength(2)
    expect(asked).toBe(2)
    stop()
  })

  test('what happens while access is asked for is told behind the acknowledgement', async () => {
    const weather = createWeather()
    const authorize = async (places: readonly string[]): Promise<readonly string[]> => {
      await weather.hosts[0]?.notifyListeners('places', 'Oslo')
      await new Promise((resolve) => setTimeout(resolve, 10))
      return places
    }
    const listens = { places: { ...weather.extension.listens?.['places'], authorize } }
    const extension = { ...weather.extension, listens } as typeof weather.extension
    const client = await setup(weatherRouter({ ...weather, extension }), { capabilities: DECLARED })
    const { stop } = listen(client, 'l1', { places: ['Oslo'] })
    await expect.poll(() => client.notifications.map(({ method }) => method)).toEqual([ACK, TOLD])
    stop()
  })

  test('are refused to who did not declare the extension, and when they are no list', async () => {
    const weather = createWeather()
    const client = await setup(weatherRouter(weather))
    await expect(listen(client, 'a', { places: ['Oslo'] }).ended).rejects.toMatchObject({ code: -32021 })
    if (http) expect(setup.wire.statuses.at(-1)).toBe(400)
    const known = await setup.another({ capabilities: DECLARED })
    const wrong = listen(known, 'b', { places: 'Oslo' }).ended
    await expect(wrong).rejects.toBeInstanceOf(RpcError)
    await expect(wrong).rejects.toMatchObject({ code: -32602 })
  })

  test('a throw allows nothing, and tells nothing', async () => {
    const weather = createWeather()
    const client = await setup(weatherRouter(weather), { capabilities: DECLARED })
    weather.beforeDelivery = () => {
      throw new Error('away')
    }
    const { stop } = listen(client, 'l1', { places: ['Oslo'] })
    await acknowledged(client)
    await weather.hosts[0]?.notifyListeners('places', 'Oslo')
    await expect.poll(() => setup.takeErrors().map(String)).toEqual(['Error: away'])
    expect(client.notified(TOLD)).toEqual([])
    stop()
  })

  test('the number of keys is bounded', async () => {
    const client = await setup(weatherRouter(createWeather()), {
      capabilities: DECLARED,
      server: { maxSubscriptions: 2 },
    })
    await expect(listen(client, 'l1', { places: ['a', 'b', 'c'] }).ended).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'too_many_subscriptions' },
    })
  })
})

test('events reach the listeners of every node', async () => {
  const backplane = memoryBackplane()
  const weather = createWeather()
  const router = weatherRouter(weather)
  const [here, there] = [createServer(router, { backplane }), createServer(router, { backplane })]
  const client = await connect(here, { capabilities: DECLARED })
  listen(client, 'l1', { places: ['Oslo'] })
  await acknowledged(client)
  await there.notifyListeners('places', 'Oslo')
  await expect.poll(() => client.notified(TOLD)).toHaveLength(1)
  await expect(there.notifyListeners('planets', 'Mars')).rejects.toThrow(
    "notifyListeners: no extension of the router has the listen filter 'planets'",
  )
  await client.close()
})
