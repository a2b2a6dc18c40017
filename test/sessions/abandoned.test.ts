import { queryObjects } from 'node:v8'
import { memoryBackplane } from 'phantom-mcp'
import { expect, test, vi } from 'vitest'
import { LiveSession } from '../../src/server/live-session.js'
import { PATIENT } from '../_messages.js'
import { verifies } from '../_setup.js'
import { failOnWarnings } from '../_warnings.js'
import { legacy, modern, type Target, target } from '../http/_http.js'
import { beginAs, getStream, heldStream, listenersOf, listenStream, openApp } from './_sessions.js'

// That the collector can be asked is an experiment of Node.
failOnWarnings('ExperimentalWarning')

const COUNT = 300
const SIDE_BY_SIDE = 20

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
/** Sessions that something still holds, whoever may use them; the collector has run before they are counted. */
const sessionsHeld = (): number => Number(queryObjects(LiveSession, { format: 'count' }))
/** The collector takes its time. */
const SELDOM = { timeout: 6_000, interval: 50 }
vi.setConfig({ testTimeout: 25_000 })

/** Some may be on their way: far from one for each that there has been. */
async function expectFreed(before: number): Promise<void> {
  await expect.poll(() => sessionsHeld() - before, SELDOM).toBeLessThan(COUNT / 10)
}

/** Runs something so many times, some of it at once. */
async function many(run: () => Promise<void>): Promise<void> {
  for (let index = 0; index < COUNT; index += SIDE_BY_SIDE) {
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, run))
  }
}

/** What a client does that never says goodbye. */
async function abandon(on: Target): Promise<string> {
  const { id, headers } = await beginAs(on)
  const stream = await getStream(on, headers)
  expect(stream.status).toBe(200)
  stream.drop()
  return id
}

verifies('field.N1', 'abandoned sessions are freed: streams, listeners, timers and records', async () => {
  const backplane = memoryBackplane()
  const on = await target('node', openApp().router, { server: { backplane, sessionTtlMs: 1_000 } })
  const before = sessionsHeld()
  await abandon(on)
  await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
  const timersBefore = timers()
  const ids: string[] = []
  await many(async () => void ids.push(await abandon(on)))
  await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
  for (const id of [ids[0], ids[COUNT / 2], ids[COUNT - 1]]) {
    expect((await on.send(legacy('ping', {}, { headers: { 'mcp-session-id': id } }))).status).toBe(404)
    expect(on.server.session(String(id))).toBeUndefined()
  }
  expect(timers()).toBeLessThanOrEqual(timersBefore + 1)
  await expectFreed(before)
  let records = 0
  for await (const key of backplane.store.list('session/')) records += key.length > 0 ? 1 : 0
  expect(records).toBe(0)
  expect(on.errors).toEqual([])
})

test('sessions that are ended with DELETE leave nothing either', async () => {
  const before = sessionsHeld()
  const on = await target('node', openApp().router)
  await many(async () => {
    const { headers } = await beginAs(on)
    const stream = await getStream(on, headers)
    expect((await on.send({ method: 'DELETE', headers })).status).toBe(204)
    await expect.poll(() => stream.over, PATIENT).toBe(true)
  })
  expect(listenersOf(on)).toBe(0)
  await expectFreed(before)
})

test('sessions without a stream leave nothing', async () => {
  const before = sessionsHeld()
  let now = 1_000_000
  const on = await target('fetch', openApp().router, { server: { sessionTtlMs: 50, clock: () => now } })
  await many(async () => void (await beginAs(on)))
  now += 1_000
  // Whoever comes next clears up behind them.
  await beginAs(on)
  await expectFreed(before)
})

test('abandoned calls and listen streams leave nothing', async () => {
  const before = sessionsHeld()
  const app = openApp()
  const on = await target('node', app.router)
  let tags = 0
  await many(async () => {
    const tag = `t${tags++}`
    const { headers } = await beginAs(on)
    const { stream, held } = await heldStream(on, app, { tag, headers })
    stream.drop()
    held.release()
    const listening = await listenStream(on, { toolsListChanged: true })
    listening.drop()
    expect((await on.send(modern('tools/list'))).status).toBe(200)
  })
  await expect.poll(() => listenersOf(on), PATIENT).toBe(0)
  await expect.poll(() => app.finished.length, PATIENT).toBe(COUNT)
  await expectFreed(before)
})

verifies('field.N1', 'a session with an open, live stream is not ended', async () => {
  const on = await target('node', openApp().router, { server: { sessionTtlMs: 50 } })
  const { id, headers } = await beginAs(on)
  const stream = await getStream(on, headers)
  const begun = Date.now()
  await expect.poll(() => Date.now() - begun, { timeout: 2_000, interval: 25 }).toBeGreaterThan(300)
  expect(stream.over).toBe(false)
  await on.server.session(id)?.notify('notifications/x', { n: 1 })
  await expect.poll(() => stream.told('notifications/x', 'n'), PATIENT).toEqual([1])
  expect((await on.send(legacy('ping', {}, { headers }))).status).toBe(200)
})
