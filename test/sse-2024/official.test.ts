import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { createRouter, field } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { eventually } from '../http/_eventually.js'
import { afterTest, type Target } from '../http/_http.js'
import { listenersOf, openApp, usersApp } from '../sessions/_sessions.js'
import { serving } from './_sse-2024.js'

// The official SDK of version 1, over the transport that it keeps for servers of 2024-11-05.

async function connectOfficial(on: Target, token?: string): Promise<{ client: Client; transport: SSEClientTransport }> {
  const client = new Client({ name: 'official', version: '1.0.0' })
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const transport = new SSEClientTransport(new URL(`http://127.0.0.1:${on.serving?.port}/sse`), {
    requestInit: { headers },
  })
  await client.connect(transport)
  afterTest(() => client.close())
  return { client, transport }
}

describe('the official client', () => {
  test('begins, lists and calls', async () => {
    const { client } = await connectOfficial(await serving(openApp().router))
    expect(client.getServerVersion()).toMatchObject({ name: 'open', version: '1.0.0' })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['hold', 'ping'])
    expect(await client.callTool({ name: 'ping' })).toMatchObject({ content: [{ type: 'text', text: 'pong' }] })
    expect((await client.readResource({ uri: 'notes://topic/x' })).contents).toMatchObject([{ text: 'on x' }])
    expect((await client.getPrompt({ name: 'review', arguments: { owner: 'Ada' } })).messages).toHaveLength(1)
    expect(await client.ping()).toEqual({})
    await expect(client.callTool({ name: 'none' })).rejects.toMatchObject({ code: -32602 })
  })

  test('many calls at once get each their own answer', async () => {
    const router = createRouter({ name: 'many', version: '1.0.0' })
    router.tool('double', { input: { n: field.integer({ required: true }) } }, async ({ n }) => {
      await new Promise((resolve) => setTimeout(resolve, (n * 7) % 5))
      return `${n * 2}`
    })
    const { client } = await connectOfficial(await serving(router))
    const numbers = Array.from({ length: 40 }, (_, n) => n)
    const results = await Promise.all(numbers.map((n) => client.callTool({ name: 'double', arguments: { n } })))
    expect(results.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(
      numbers.map((n) => `${n * 2}`),
    )
  })

  test('hears progress, logs, changes and updates', async () => {
    const { router } = openApp()
    router.tool('steps', {}, async (_params, session) => {
      for (const step of [1, 2, 3]) await session.notifyProgress(step, 3)
      await session.log.info('nearly done')
      // The official clients handle an answer before the notifications that came together with it.
      await new Promise((resolve) => setTimeout(resolve, 20))
      return 'done'
    })
    const on = await serving(router)
    const { client } = await connectOfficial(on)
    const heard: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data))
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void heard.push(params.uri))
    client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void heard.push(method))
    await client.setLoggingLevel('info')
    const steps: number[] = []
    await client.callTool({ name: 'steps' }, undefined, { onprogress: ({ progress }) => void steps.push(progress) })
    expect(steps).toEqual([1, 2, 3])
    await client.subscribeResource({ uri: 'notes://plain' })
    await on.server.notifyResourcesUpdated(['notes://plain'])
    router.tool('more', {}, () => 'more')
    await eventually(() => heard).toEqual(['nearly done', 'notes://plain', 'notifications/tools/list_changed'])
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('more')
  })

  test('cancels a call, and closes: nothing is left', async () => {
    const app = openApp()
    const on = await serving(app.router)
    const { client } = await connectOfficial(on)
    const controller = new AbortController()
    const call = client.callTool({ name: 'hold', arguments: { tag: 'a' } }, undefined, { signal: controller.signal })
    await app.held('a')
    controller.abort()
    await expect(call).rejects.toThrow()
    await eventually(() => app.aborted).toEqual(['a'])
    const left = client.callTool({ name: 'hold', arguments: { tag: 'b' } })
    await app.held('b')
    await client.close()
    await expect(left).rejects.toThrow()
    await eventually(() => app.aborted).toEqual(['a', 'b'])
    await eventually(() => listenersOf(on)).toBe(0)
  })

  test('is let in with its token, and refused without one', async () => {
    const on = await serving(usersApp().router)
    const { client } = await connectOfficial(on, 'ana')
    expect(await client.callTool({ name: 'ping' })).toMatchObject({ content: [{ text: 'pong' }] })
    await expect(connectOfficial(on)).rejects.toMatchObject({ code: 401 })
  })
})
