import { createRouter, type Router, type Session } from 'phantom-mcp'
import { expect } from 'vitest'
import { codeOf, request } from '../_messages.js'
import { describeMatrix, HTTP, PIPES, SESSION_VERSIONS, STATELESS_VERSIONS, type Version, verifies } from '../_setup.js'

const ICONS = [{ src: 'https://example.com/notes.png', mimeType: 'image/png', sizes: ['48x48'] }]

function notes(): Router {
  const router = createRouter({
    name: 'notes',
    version: '1.2.3',
    title: 'Notes',
    description: 'Keeps notes.',
    websiteUrl: 'https://example.com/notes',
    icons: ICONS,
    instructions: 'Be kind.',
  })
  router.tool('noop', {}, () => 'ok')
  router.prompt('review', { arguments: { repo: { complete: () => ['a'] } } }, () => 'Review.')
  router.resource('notes://plain', { name: 'plain' }, () => 'plain note')
  return router
}

const INFO_2024 = { name: 'notes', version: '1.2.3' }
const INFO_2025_06 = { ...INFO_2024, title: 'Notes' }
const INFO_2025_11 = {
  ...INFO_2025_06,
  description: 'Keeps notes.',
  websiteUrl: 'https://example.com/notes',
  icons: ICONS,
}
const SERVER_INFO: Readonly<Record<Version, object>> = {
  '2024-11-05': INFO_2024,
  '2025-03-26': INFO_2024,
  '2025-06-18': INFO_2025_06,
  '2025-11-25': INFO_2025_11,
  '2026-07-28': INFO_2025_11,
}

describeMatrix('initialize', { versions: SESSION_VERSIONS }, (setup, cell) => {
  verifies(['lifecycle.echo', 'gates.implementation'], 'agrees to the version and names the server', async () => {
    const { initialized } = await setup(notes())
    expect(initialized?.['protocolVersion']).toBe(cell.version)
    expect(initialized?.['serverInfo']).toEqual(SERVER_INFO[cell.version])
    expect(initialized?.['instructions']).toBe('Be kind.')
    expect(Object.keys(initialized ?? {}).sort()).toEqual([
      'capabilities',
      'instructions',
      'protocolVersion',
      'serverInfo',
    ])
  })

  verifies(['discover.declared', 'gates.completions'], 'declares what is there', async () => {
    const { initialized } = await setup(notes())
    const declared = ['logging', 'prompts', 'resources', 'tools']
    const expected = cell.version === '2024-11-05' ? declared : ['completions', ...declared]
    expect(Object.keys(initialized?.['capabilities'] as object).sort()).toEqual(expected)
  })

  verifies('discover.declared', 'does not declare what is not there', async () => {
    const client = await setup(createRouter({ name: 'bare', version: '1.0.0' }))
    expect(client.initialized).toEqual({
      protocolVersion: cell.version,
      capabilities: { logging: {} },
      serverInfo: { name: 'bare', version: '1.0.0' },
    })
  })

  verifies(
    ['field.F1', 'lifecycle.unknown-version'],
    'answers versions that have no handshake with 2025-11-25',
    async () => {
      for (const asked of ['2026-07-28', '2099-01-01', '1.0', '']) {
        const wire = await setup.bare(notes())
        const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'probe', version: '0' } }
        const answer = await wire.ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
        expect(answer['result']).toMatchObject({ protocolVersion: '2025-11-25' })
        const listed = await wire.ask({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
        expect(listed['result']).toMatchObject({ tools: [{ name: 'noop' }] })
      }
    },
  )

  verifies('lifecycle.twice', 'refuses a second initialize and keeps the session', async () => {
    const client = await setup(notes())
    const params = { protocolVersion: cell.version, capabilities: {}, clientInfo: { name: 'again', version: '0' } }
    await expect(client.request('initialize', params)).rejects.toMatchObject({ code: -32600 })
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'noop' }] })
  })

  verifies('lifecycle.bad-initialize', 'refuses parameters of the wrong kind, and then takes right ones', async () => {
    const wire = await setup.bare(notes())
    const good = { protocolVersion: cell.version, capabilities: {}, clientInfo: { name: 'c', version: '0' } }
    const wrong = [{}, { ...good, protocolVersion: 5 }, { ...good, capabilities: 'none' }, { ...good, clientInfo: [] }]
    for (const [id, params] of wrong.entries()) {
      expect(codeOf(await wire.ask({ jsonrpc: '2.0', id, method: 'initialize', params }))).toBe(-32602)
    }
    const answer = await wire.ask({ jsonrpc: '2.0', id: 9, method: 'initialize', params: good })
    expect(answer['result']).toMatchObject({ protocolVersion: cell.version })
  })

  verifies('lifecycle.ping', 'answers ping with an empty object', async () => {
    expect(await (await setup(notes())).request('ping')).toEqual({})
  })

  verifies('era.methods', 'does not know the methods of 2026-07-28', async () => {
    const client = await setup(notes())
    for (const method of ['server/discover', 'subscriptions/listen']) {
      await expect(client.request(method)).rejects.toMatchObject({ code: -32601 })
    }
  })

  verifies('session.facts', 'tells handlers who is calling', async () => {
    const facts: unknown[] = []
    const router = createRouter({ name: 'facts', version: '1.0.0' })
    router.tool('facts', {}, (_params, session: Session) => {
      facts.push(
        session.protocolVersion,
        session.stateless,
        session.clientInfo,
        session.clientCapabilities,
        session.call,
      )
      facts.push(typeof session.id)
      return 'ok'
    })
    const clientInfo = { name: 'ada', version: '2.0' }
    const client = await setup(router, { clientInfo, capabilities: { roots: { listChanged: true } } })
    await client.requestAs('call-1', { method: 'tools/call', params: { name: 'facts' } })
    const call = { id: 'call-1', method: 'tools/call', name: 'facts' }
    const id = cell.http ? 'string' : 'undefined'
    expect(facts).toEqual([cell.version, false, clientInfo, { roots: { listChanged: true } }, call, id])
  })
})

describeMatrix('2026-07-28', { versions: STATELESS_VERSIONS }, (setup, cell) => {
  verifies(
    ['discover.result', 'result.type', 'result.server-info', 'cache.always'],
    'discover tells all that there is',
    async () => {
      const client = await setup(notes())
      const { capabilities, ...rest } = await client.request('server/discover')
      expect(rest).toEqual({
        supportedVersions: ['2026-07-28'],
        instructions: 'Be kind.',
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': SERVER_INFO['2026-07-28'] },
      })
      expect(Object.keys(capabilities as object).sort()).toEqual([
        'completions',
        'logging',
        'prompts',
        'resources',
        'tools',
      ])
    },
  )

  verifies('discover.declared', 'discover leaves out what is not there', async () => {
    const client = await setup(createRouter({ name: 'bare', version: '1.0.0' }))
    expect(await client.request('server/discover')).toEqual({
      supportedVersions: ['2026-07-28'],
      capabilities: { logging: {} },
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'bare', version: '1.0.0' } },
    })
  })

  verifies('era.methods', 'does not know the methods of sessions', async () => {
    const client = await setup(notes())
    const methods = ['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']
    for (const method of methods) {
      await expect(client.request(method, { level: 'debug', uri: 'notes://plain' })).rejects.toMatchObject({
        code: -32601,
      })
    }
    expect(setup.wire.statuses).toEqual(cell.http ? [404, 404, 404, 404, 404] : [])
  })

  verifies('envelope.version', 'refuses versions that it does not serve, and names those that it does', async () => {
    const client = await setup(notes())
    for (const asked of ['2099-01-01', '2025-11-25', '1.0', '']) {
      const meta = { 'io.modelcontextprotocol/protocolVersion': asked }
      await expect(client.request('tools/list', {}, { meta })).rejects.toMatchObject({
        code: -32022,
        data: { supported: ['2026-07-28'], requested: asked },
      })
    }
    expect(setup.wire.statuses).toEqual(cell.http ? [400, 400, 400, 400] : [])
  })

  verifies('envelope.capabilities', 'refuses a request that does not tell its capabilities', async () => {
    const client = await setup(notes())
    for (const value of [undefined, null, 'all', [], 1]) {
      const meta = { 'io.modelcontextprotocol/clientCapabilities': value }
      await expect(client.request('tools/list', {}, { meta })).rejects.toMatchObject({ code: -32602 })
    }
    expect(setup.wire.statuses).toEqual(cell.http ? [400, 400, 400, 400, 400] : [])
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'noop' }] })
  })

  verifies('envelope.client-info', 'serves clients that do not say their name', async () => {
    const names: unknown[] = []
    const router = createRouter({ name: 'names', version: '1.0.0' })
    router.tool('name', {}, (_params, session) => {
      names.push(session.clientInfo)
      return 'ok'
    })
    const client = await setup(router)
    const key = 'io.modelcontextprotocol/clientInfo'
    for (const info of [undefined, { name: 'ada', version: '1' }, 'ada', { version: 1 }]) {
      await client.callTool('name', {}, { meta: { [key]: info } })
    }
    expect(names).toEqual([undefined, { name: 'ada', version: '1' }, undefined, undefined])
  })

  verifies(['envelope.alone', 'session.facts'], 'remembers nothing between two requests', async () => {
    const seen: unknown[] = []
    const router = createRouter({ name: 'facts', version: '1.0.0' })
    router.tool('facts', {}, (_params, session) => {
      seen.push([session.clientCapabilities, session.stateless, session.protocolVersion, session.id])
      return 'ok'
    })
    const client = await setup(router)
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } }
    await client.callTool('facts', {}, { meta })
    await client.callTool('facts')
    expect(seen).toEqual([
      [{ sampling: {} }, true, '2026-07-28', undefined],
      [{}, true, '2026-07-28', undefined],
    ])
  })
})

describeMatrix('2026-07-28 over HTTP', { versions: STATELESS_VERSIONS, transports: HTTP }, (setup) => {
  verifies('envelope.version', 'refuses a body without a version although the header has one', async () => {
    const client = await setup(notes(), { headers: () => ({ 'mcp-protocol-version': '2026-07-28' }) })
    const meta = { 'io.modelcontextprotocol/protocolVersion': undefined }
    await expect(client.request('tools/list', {}, { meta })).rejects.toMatchObject({ code: -32602 })
    const message = { jsonrpc: '2.0', id: 'none', method: 'tools/list' }
    expect(await setup.wire.ask(message)).toMatchObject({ id: 'none', error: { code: -32602 } })
    expect(setup.wire.statuses).toEqual([400, 400])
  })
})

describeMatrix('both eras at once', { versions: SESSION_VERSIONS, transports: PIPES }, (setup, cell) => {
  verifies('era.together', 'a pipe serves requests that stand alone beside its session', async () => {
    const client = await setup(notes())
    const modern = request({ ...cell, sessions: false }, 'm', { method: 'tools/list' })
    const answer = await setup.wire.ask(modern)
    expect(answer['result']).toMatchObject({ resultType: 'complete', tools: [{ name: 'noop' }] })
    expect(await client.list('tools')).toEqual({
      tools: [{ name: 'noop', inputSchema: { type: 'object', properties: {} } }],
    })
  })
})

describeMatrix('both eras at once', { versions: SESSION_VERSIONS, transports: HTTP }, (setup) => {
  verifies('era.together', 'an endpoint serves clients of all versions', async () => {
    const client = await setup(notes())
    const modern = await setup.another({ protocol: '2026-07-28' })
    expect(await modern.list('tools')).toMatchObject({ resultType: 'complete', tools: [{ name: 'noop' }] })
    expect(await client.list('tools')).toEqual({
      tools: [{ name: 'noop', inputSchema: { type: 'object', properties: {} } }],
    })
  })
})
