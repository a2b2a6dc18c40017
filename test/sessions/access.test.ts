import { createRouter, memoryBackplane, type Router } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { describeMatrix, STATELESS_VERSIONS } from '../_setup.js'
import { namesOf, textOf } from '../catalogue/_catalogue.js'
import { initialize, type Json, legacy, modern, resultOf, TARGETS, type Target, target } from '../http/_http.js'
import {
  as,
  beginAs,
  furnish,
  getStream,
  heldStream,
  listenersOf,
  openApp,
  sessionStream,
  userOf,
} from './_sessions.js'

describeMatrix('a handler of 2026-07-28', { versions: STATELESS_VERSIONS }, (setup) => {
  // Decisions: lists vary by authorization, never by connection or history; 26/basic/transports/stdio: a process is no session.
  test('changes nothing for the next request', async () => {
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session) => session.assign({ seen: 'connect' }),
      principal: () => null,
    })
    router.tool('lock', {}, (_params, session) => {
      session.allowTools([]).allowPrompts([]).allowResourceTemplates([])
      session.assign({ seen: 'handler' })
      return session.assigns.seen
    })
    router.tool('look', {}, (_params, session) => session.assigns.seen)
    const client = await setup(router)
    expect(textOf(await client.callTool('lock'))).toBe('handler')
    expect(await namesOf(client, 'tools')).toEqual(['lock', 'look'])
    expect(textOf(await client.callTool('look'))).toBe('connect')
  })
})

const namesIn = (result: Json | undefined, list: string): unknown =>
  (result?.[list] as Json[] | undefined)?.map(({ name }) => name)

describe.each(TARGETS)('two users at once over %s', (kind) => {
  test('each see their own, in lists, calls, capabilities and sessions, whatever the order', async () => {
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: async (session, { headers }) => {
        const user = userOf(headers.get('authorization')) ?? { id: 'nobody' }
        // Both are let in at once.
        await new Promise((resolve) => setImmediate(resolve))
        if (user.id === 'bo') session.allowTools(['ping']).allowPrompts([]).allowResourceTemplates(['plain'])
        return session.assign({ user })
      },
      principal: (session) => session.assigns.user.id,
    })
    furnish(router)
    router.tool('who', {}, (_params, session) => session.assigns.user.id)
    const on = await target(kind, router as unknown as Router)
    const round = async (token: string): Promise<unknown> => {
      const headers = as(token)
      const answers = await Promise.all([
        on.send(modern('tools/list', {}, { headers })),
        on.send(modern('prompts/list', {}, { headers })),
        on.send(modern('resources/templates/list', {}, { headers })),
        on.send(modern('server/discover', {}, { headers })),
        on.send(modern('tools/call', { name: 'who' }, { headers })),
        on.send(initialize('2025-11-25', headers)),
      ])
      const [tools, prompts, templates, discovered, called, begun] = answers.map((answer) => resultOf(answer))
      return {
        tools: namesIn(tools, 'tools'),
        prompts: namesIn(prompts, 'prompts'),
        templates: namesIn(templates, 'resourceTemplates'),
        discovered: Object.keys(discovered?.['capabilities'] as Json).sort(),
        called: (called?.['content'] as Json[] | undefined)?.[0]?.['text'],
        begun: Object.keys(begun?.['capabilities'] as Json).sort(),
      }
    }
    const rounds = await Promise.all(Array.from({ length: 10 }, (_, index) => round(index % 2 === 0 ? 'ana' : 'bo')))
    for (const [index, seen] of rounds.entries()) {
      expect(seen).toEqual(
        index % 2 === 0
          ? {
              tools: ['hold', 'ping', 'who'],
              prompts: ['review'],
              templates: ['topic'],
              discovered: ['logging', 'prompts', 'resources', 'tools'],
              called: 'ana',
              begun: ['logging', 'prompts', 'resources', 'tools'],
            }
          : {
              tools: ['ping'],
              prompts: undefined,
              templates: [],
              discovered: ['logging', 'resources', 'tools'],
              called: undefined,
              begun: ['logging', 'resources', 'tools'],
            },
      )
    }
  })
})

describe('the stream of a session', () => {
  /** Callers who see what a header says. */
  async function seeing(): Promise<Target> {
    const router = createRouter({
      name: 'x',
      version: '1',
      connect: (session, { headers }) => {
        const only = headers.get('x-only')
        return only === null ? session : session.allowResourceTemplates([only]).allowTools([only])
      },
      principal: () => 'ana',
    })
    furnish(router)
    return await target('node', router)
  }

  test('of a client that comes back may tell what its new token allows, not what the old one did', async () => {
    const on = await seeing()
    const { id, headers } = await beginAs(on)
    for (const uri of ['notes://plain', 'notes://topic/a']) {
      await on.send(legacy('resources/subscribe', { uri }, { headers }))
    }
    const first = await sessionStream(on, headers)
    await expect.poll(() => listenersOf(on), PATIENT).toBe(1)
    expect(await on.server.notifyResourcesUpdated(['notes://topic/a'])).toBe(1)
    await expect.poll(() => first.told('notifications/resources/updated', 'uri'), PATIENT).toEqual(['notes://topic/a'])
    first.drop()
    await expect.poll(() => on.server.channels?.ofSession(id)?.attached, PATIENT).toBe(false)
    const second = await getStream(on, { ...headers, 'x-only': 'plain' }, first.lastId)
    await expect.poll(() => on.server.channels?.ofSession(id)?.attached, PATIENT).toBe(true)
    expect(await on.server.notifyResourcesUpdated(['notes://plain', 'notes://topic/a'])).toBe(1)
    expect(await on.server.notifyToolList()).toBe(0)
    await expect.poll(() => second.methods.length, PATIENT).toBe(1)
    expect(second.told('notifications/resources/updated', 'uri')).toEqual(['notes://plain'])
  })
})

describe('ended by another server on the same backplane', () => {
  test.each(['stream', 'call'])('a session with an open %s here is over for ever', async (what) => {
    const backplane = memoryBackplane()
    const app = openApp()
    const one = await target('node', app.router, { server: { backplane, sessionTtlMs: 400 } })
    const two = await target('node', openApp().router, { server: { backplane, sessionTtlMs: 400 } })
    const { headers } = await beginAs(one)
    if (what === 'stream') await sessionStream(one, headers)
    else await heldStream(one, app, { tag: 'a', headers })
    expect((await two.send({ method: 'DELETE', headers })).status).toBe(204)
    for (const on of [one, two, one]) {
      expect((await on.send(legacy('ping', {}, { id: 'p', headers }))).status).toBe(404)
    }
    // Nor does what is open here bring it back.
    const keys = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const key of backplane.store.list('session/')) found.push(key)
      return found
    }
    const begun = Date.now()
    await expect.poll(() => Date.now() - begun, { timeout: 2_000, interval: 20 }).toBeGreaterThan(250)
    expect(await keys()).toEqual([])
  })
})
