import type { Router } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { eventually } from '../http/_eventually.js'
import { head, RawSocket, type Target } from '../http/_http.js'
import { listenersOf, openApp } from '../sessions/_sessions.js'
import { Sse, serving } from './_sse-2024.js'

/** Long enough that what the kernel takes in is soon full. */
const PAD = 'x'.repeat(20_000)
const FAT = `notes://topic/${PAD}`
/** What may be on its way to a reader that has stopped: the kernel's buffers, and what the server may keep. */
const BOUND = 25_000_000
const LEFT = 1_000_000

/** Bytes that the process keeps for one socket or another. */
const writable = (): number =>
  (process as unknown as { _getActiveHandles(): { writableLength?: number }[] })
    ._getActiveHandles()
    .reduce((sum, { writableLength = 0 }) => sum + writableLength, 0)

interface Lazy {
  readonly raw: RawSocket
  post(message: object): Promise<number>
}

/** A client that has read where to post, and then nothing more. */
async function stopped(on: Target): Promise<Lazy> {
  const raw = await RawSocket.connect(on.serving?.port ?? 0)
  await raw.write(head({ method: 'GET', path: '/sse', headers: { accept: 'text/event-stream' } }))
  const path = (): string => /data: (\/messages\?sessionId=\S+)/.exec(raw.received)?.[1] ?? ''
  await expect.poll(path, PATIENT).not.toBe('')
  const post = async (message: object): Promise<number> => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    return (await on.send({ path: path(), headers: { 'content-type': 'application/json' }, body })).status
  }
  const clientInfo = { name: 'lazy', version: '1.0.0' }
  await post({ id: 0, method: 'initialize', params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo } })
  await expect.poll(() => raw.received, PATIENT).toContain('"serverInfo"')
  await post({ method: 'notifications/initialized' })
  raw.socket.pause()
  return { raw, post }
}

const isCut = ({ raw: { received, socket } }: Lazy): boolean => received.endsWith('0\r\n\r\n') || socket.closed

function fatRouter(): Router {
  const { router } = openApp()
  router.tool('fat', {}, () => 'x'.repeat(1_000_000))
  return router
}

describe('a client that stops reading', () => {
  test('is cut off when updates wait for it; others are told, and served', { timeout: 20_000 }, async () => {
    const on = await serving(openApp().router)
    const lazy = await stopped(on)
    const eager = await Sse.begin(on)
    await lazy.post({ id: 1, method: 'resources/subscribe', params: { uri: FAT } })
    await eager.ask('resources/subscribe', { uri: 'notes://plain' })
    expect(listenersOf(on)).toBe(2)
    for (let n = 0; n < 3_000; n++) {
      await on.server.notifyResourcesUpdated(n % 100 === 0 ? [FAT, 'notes://plain'] : [FAT])
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(writable()).toBeLessThan(BOUND)
    await eventually(() => eager.notified.length).toBe(30)
    expect(listenersOf(on)).toBe(1)
    await expect.poll(writable, PATIENT).toBeLessThan(LEFT)
    lazy.raw.socket.resume()
    await expect.poll(() => isCut(lazy), PATIENT).toBe(true)
    expect(await lazy.post({ id: 2, method: 'ping' })).toBe(404)
    expect(on.errors).toEqual([])
  })

  test('is cut off when answers wait for it', { timeout: 20_000 }, async () => {
    const on = await serving(fatRouter())
    const lazy = await stopped(on)
    const statuses = new Set<number>()
    for (let id = 1; id <= 60; id++)
      statuses.add(await lazy.post({ id, method: 'tools/call', params: { name: 'fat' } }))
    expect(writable()).toBeLessThan(BOUND)
    // From some point on there is nothing to post to any more.
    expect([...statuses]).toEqual([202, 404])
    await expect.poll(writable, PATIENT).toBeLessThan(LEFT)
    expect(listenersOf(on)).toBe(0)
  })

  test('for a moment only loses nothing', async () => {
    const on = await serving(fatRouter())
    const lazy = await stopped(on)
    for (let id = 1; id <= 3; id++) await lazy.post({ id, method: 'tools/call', params: { name: 'fat' } })
    lazy.raw.socket.resume()
    for (const id of [1, 2, 3]) await expect.poll(() => lazy.raw.received.includes(`"id":${id},`), PATIENT).toBe(true)
    await lazy.post({ id: 4, method: 'ping' })
    await expect.poll(() => lazy.raw.received, PATIENT).toContain('"id":4,"result":{}')
  })
})
