import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Challenge,
  createRouter,
  createServer,
  forbidden,
  httpEndpoint,
  type ProtectedResourceOptions,
  type Refusal,
  unauthorized,
} from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { nodeHandler, serve } from 'phantom-mcp/node'
import { describe, expect, test } from 'vitest'
import { verifies } from '../_setup.js'
import { type Answer, afterTest, legacy, modern, TARGETS, type Target, target } from '../http/_http.js'
import { as, openApp, usersApp } from './_sessions.js'

const AUTHORIZATION = 'https://auth.example.test'
const RESOURCE = 'https://mcp.example.test/team-a/mcp'
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

function challenging(challenge?: string | Challenge) {
  return createRouter({
    name: 'challenging',
    version: '1.0.0',
    connect: () => (challenge === undefined ? unauthorized() : unauthorized(challenge)),
    principal: () => null,
  })
}

async function challengeOf(
  kind: 'node' | 'fetch',
  challenge: string | Challenge | undefined,
  protectedResource?: ProtectedResourceOptions,
): Promise<string | undefined> {
  const on = await target(kind, challenging(challenge), {
    http: protectedResource === undefined ? {} : { protectedResource },
  })
  const answer = await on.send(modern('tools/list'))
  expect(answer.status).toBe(401)
  return answer.header('www-authenticate')
}

describe.each(TARGETS)('the challenge over %s', (kind) => {
  const ROWS: [string, string | Challenge | undefined, string][] = [
    ['nothing', undefined, 'Bearer'],
    ['a string', 'Bearer realm="mcp", error="invalid_token"', 'Bearer realm="mcp", error="invalid_token"'],
    ['another scheme', 'Basic realm="mcp"', 'Basic realm="mcp"'],
    ['a scheme alone', { method: 'Bearer' }, 'Bearer'],
    [
      'an object',
      { method: 'Bearer', resource_metadata: 'https://a.test/.well-known/x', scope: 'read write' },
      'Bearer resource_metadata="https://a.test/.well-known/x", scope="read write"',
    ],
    ['a quote', { method: 'Bearer', realm: 'say "hi"' }, 'Bearer realm="say \\"hi\\""'],
    ['a backslash', { method: 'Bearer', realm: 'C:\\x\\' }, 'Bearer realm="C:\\\\x\\\\"'],
    ['both, with a comma', { method: 'Bearer', realm: '\\", x="y' }, 'Bearer realm="\\\\\\", x=\\"y"'],
    ['an empty value', { method: 'Bearer', realm: '' }, 'Bearer realm=""'],
    ['a name that objects have', { method: 'Bearer', constructor: 'x' } as never, 'Bearer constructor="x"'],
  ]
  test.each(ROWS)('%s', async (_name, challenge, expected) => {
    expect(await challengeOf(kind, challenge)).toBe(expected)
  })

  const FILLED: [string, string | Challenge | undefined, string][] = [
    ['nothing', undefined, `Bearer resource_metadata="M", scope="read write"`],
    ['a scheme as a string', 'Bearer', `Bearer resource_metadata="M", scope="read write"`],
    ['a scheme', { method: 'Bearer' }, `Bearer resource_metadata="M", scope="read write"`],
    ['a string', 'Bearer realm="x"', `Bearer realm="x", resource_metadata="M", scope="read write"`],
    ['a string with a scope', 'Bearer scope="own"', `Bearer scope="own", resource_metadata="M"`],
    ['a string with both', 'Bearer scope="own", resource_metadata="N"', 'Bearer scope="own", resource_metadata="N"'],
    ['an object with a scope', { method: 'Bearer', scope: 'own' }, `Bearer resource_metadata="M", scope="own"`],
    [
      'an object with both',
      { method: 'Bearer', scope: 'own', resource_metadata: 'N' },
      'Bearer resource_metadata="N", scope="own"',
    ],
    [
      'an object with an error',
      { method: 'Bearer', error: 'invalid_token' },
      `Bearer resource_metadata="M", scope="read write", error="invalid_token"`,
    ],
    [
      'a string that speaks of a scope in its text',
      'Bearer error_description="no scope=read here"',
      `Bearer error_description="no scope=read here", resource_metadata="M", scope="read write"`,
    ],
  ]
  test.each(FILLED)('%s, with protectedResource', async (_name, challenge, expected) => {
    const options = { resource: RESOURCE, authorizationServers: [AUTHORIZATION], scopes: ['read', 'write'] }
    const metadata = `https://mcp.example.test${WELL_KNOWN}/team-a/mcp`
    expect(await challengeOf(kind, challenge, options)).toBe(expected.replace('"M"', `"${metadata}"`))
  })

  test('without scopes none are named', async () => {
    const options = { resource: 'https://mcp.example.test', authorizationServers: [AUTHORIZATION] }
    expect(await challengeOf(kind, undefined, options)).toBe(
      `Bearer resource_metadata="https://mcp.example.test${WELL_KNOWN}"`,
    )
    expect(await challengeOf(kind, undefined, { ...options, scopes: [] })).toBe(
      `Bearer resource_metadata="https://mcp.example.test${WELL_KNOWN}"`,
    )
  })

  test('is in a 401 only', async () => {
    const router = createRouter({ name: 'x', version: '1', connect: () => forbidden(), principal: () => null })
    const protectedResource = { resource: RESOURCE, authorizationServers: [AUTHORIZATION] }
    const on = await target(kind, router, { http: { protectedResource } })
    const answer = await on.send(modern('tools/list'))
    expect([answer.status, answer.header('www-authenticate')]).toEqual([403, undefined])
  })

  test('of a 403 is the application’s own, and says where the metadata is', async () => {
    const challenge = { method: 'Bearer', error: 'insufficient_scope', scope: 'files:write' }
    const rows: [Refusal, string][] = [
      [forbidden('no', challenge), 'Bearer resource_metadata="M", error="insufficient_scope", scope="files:write"'],
      // The scopes to begin with are no answer to one that is missing.
      [forbidden('no', { method: 'Bearer' }), 'Bearer resource_metadata="M"'],
      [
        forbidden('no', 'Bearer error="insufficient_scope"'),
        'Bearer error="insufficient_scope", resource_metadata="M"',
      ],
    ]
    const protectedResource = { resource: RESOURCE, authorizationServers: [AUTHORIZATION], scopes: ['read'] }
    const metadata = `https://mcp.example.test${WELL_KNOWN}/team-a/mcp`
    for (const [refused, expected] of rows) {
      const router = createRouter({ name: 'x', version: '1', connect: () => refused, principal: () => null })
      const on = await target(kind, router, { http: { protectedResource } })
      const answer = await on.send(modern('tools/list'))
      expect([answer.status, answer.header('www-authenticate')]).toEqual([
        403,
        expected.replace('"M"', `"${metadata}"`),
      ])
    }
    expect(() => forbidden('no', { method: 'Bearer', scope: 'a\nb' })).toThrow(TypeError)
    expect(() => forbidden('no', 'Bearer\r\nx: y')).toThrow(TypeError)
  })
})

describe.each(TARGETS)('a browser that has no token yet, over %s', (kind) => {
  const ORIGIN = 'https://app.example.test'
  const PROTECTED = { resource: RESOURCE, authorizationServers: [AUTHORIZATION] }
  const http = { origins: [ORIGIN], protectedResource: PROTECTED }
  const NAMES =
    'authorization,content-type,accept,mcp-protocol-version,mcp-method,mcp-name,mcp-param-region,mcp-session-id,last-event-id'
  const list = (header: string | undefined): string[] => (header ?? '').toLowerCase().split(/ *, */)

  verifies('field.M1', 'may ask what it may send', async () => {
    const on = await target(kind, usersApp().router, { http })
    const asking = { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': NAMES }
    const answer = await on.send({ method: 'OPTIONS', headers: asking })
    expect([answer.status, answer.header('access-control-allow-origin')]).toEqual([204, ORIGIN])
    expect(list(answer.header('access-control-allow-headers'))).toEqual(expect.arrayContaining(NAMES.split(',')))
    expect(list(answer.header('access-control-allow-methods'))).toEqual(
      expect.arrayContaining(['post', 'get', 'delete']),
    )
  })

  verifies('field.M1', 'may read the answers, whatever they are', async () => {
    const on = await target(kind, usersApp().router, { http })
    const ana = { origin: ORIGIN, ...as('ana') }
    const rows: [number, Parameters<Target['send']>[0]][] = [
      [401, modern('tools/list', {}, { headers: { origin: ORIGIN } })],
      [401, { method: 'GET', headers: { origin: ORIGIN, accept: 'text/event-stream' } }],
      [404, legacy('ping', {}, { headers: { ...ana, 'mcp-session-id': 'unknown' } })],
      [404, modern('no/such', {}, { headers: ana })],
      [400, legacy('ping', {}, { headers: ana })],
      [200, modern('tools/list', {}, { headers: ana })],
    ]
    for (const [status, sent] of rows) {
      const answer = await on.send(sent)
      expect([answer.status, answer.header('access-control-allow-origin')]).toEqual([status, ORIGIN])
      const exposed = list(answer.header('access-control-expose-headers'))
      expect(exposed).toEqual(expect.arrayContaining(['mcp-session-id', 'www-authenticate']))
    }
  })
})

describe('a challenge that no header can carry', () => {
  const REFUSED: [string, unknown][] = [
    ['a line break', 'Bearer realm="a\r\nset-cookie: x=1"'],
    ['a lone line feed', 'Bearer\nx'],
    ['a null byte', 'Bearer \0'],
    ['letters beyond ASCII', 'Bearer realm="für"'],
    ['a line break in a value', { method: 'Bearer', realm: 'a\r\nb' }],
    ['a null byte in a value', { method: 'Bearer', realm: 'a\0b' }],
    ['a DEL in a value', { method: 'Bearer', realm: 'a\x7fb' }],
    ['letters beyond ASCII in a value', { method: 'Bearer', realm: 'für' }],
    ['a space in a name', { method: 'Bearer', 'my realm': 'x' }],
    ['an empty name', { method: 'Bearer', '': 'x' }],
    ['a quote in a name', { method: 'Bearer', 'a"b': 'x' }],
    ['a colon in a name', { method: 'Bearer', 'a:b': 'x' }],
    ['a space in the scheme', { method: 'Bearer x' }],
    ['an empty scheme', { method: '' }],
    ['no scheme', { realm: 'x' }],
  ]
  test.each(REFUSED)('%s is a TypeError where it is made', (_name, challenge) => {
    expect(() => unauthorized(challenge as Challenge)).toThrow(TypeError)
    expect(() => unauthorized(challenge as Challenge)).toThrow(/^unauthorized: /)
    expect(() => forbidden('no', challenge as Challenge)).toThrow(/^forbidden: /)
  })
})

const DOCUMENT = {
  resource: RESOURCE,
  authorization_servers: [AUTHORIZATION],
  scopes_supported: ['read', 'write'],
  bearer_methods_supported: ['header'],
  resource_name: 'Team A',
  resource_documentation: 'https://docs.example.test',
}
const OPTIONS: ProtectedResourceOptions = {
  resource: RESOURCE,
  authorizationServers: [AUTHORIZATION],
  scopes: ['read', 'write'],
  name: 'Team A',
  documentation: 'https://docs.example.test',
}
const get = (on: Target, path: string): Promise<Answer> => on.send({ method: 'GET', path })

describe.each(TARGETS)('the metadata document over %s', (kind) => {
  test.each([WELL_KNOWN, `${WELL_KNOWN}/team-a/mcp`])('%s is served without a token', async (path) => {
    let asked = 0
    const app = usersApp()
    app.router.use((_session, next) => {
      asked++
      return next()
    })
    const on = await target(kind, app.router, { http: { protectedResource: OPTIONS } })
    const answer = await get(on, path)
    expect([answer.status, answer.header('content-type')]).toEqual([200, 'application/json'])
    expect(JSON.parse(answer.text)).toEqual(DOCUMENT)
    expect((await get(on, `${path}?x=1`)).status).toBe(200)
    expect(asked).toBe(0)
    expect(on.errors).toEqual([])
  })

  verifies('field.M3', 'the URL of the challenge leads to it', async () => {
    const on = await target(kind, usersApp().router, { http: { protectedResource: OPTIONS } })
    for (const sent of [modern('tools/list'), legacy('ping'), { method: 'GET' }, { method: 'DELETE' }]) {
      const refused = await on.send(sent)
      expect(refused.status).toBe(401)
      const url = /resource_metadata="([^"]+)"/.exec(refused.header('www-authenticate') ?? '')?.[1] ?? ''
      expect(url).toBe(`https://mcp.example.test${WELL_KNOWN}/team-a/mcp`)
      expect(JSON.parse((await get(on, new URL(url).pathname)).text)).toMatchObject({ resource: RESOURCE })
    }
    expect((await on.send(modern('tools/list', {}, { headers: as('ana') }))).status).toBe(200)
  })

  test('other paths of its kind, and other methods, have none', async () => {
    const on = await target(kind, usersApp().router, { http: { protectedResource: OPTIONS } })
    for (const path of [
      `${WELL_KNOWN}/team-b/mcp`,
      `${WELL_KNOWN}/team-a`,
      `${WELL_KNOWN}/team-a/mcp/`,
      `${WELL_KNOWN}x`,
    ]) {
      const answer = await get(on, path)
      expect([path, answer.status === 200, answer.text.includes('authorization_servers')]).toEqual([path, false, false])
    }
    const posted = await on.send({ ...modern('tools/list'), path: WELL_KNOWN })
    expect(posted.text).not.toContain('authorization_servers')
  })

  test('an endpoint at the root of its host has one path', async () => {
    const protectedResource = { resource: 'https://mcp.example.test', authorizationServers: [AUTHORIZATION] }
    const on = await target(kind, usersApp().router, { http: { protectedResource } })
    expect(JSON.parse((await get(on, WELL_KNOWN)).text)).toEqual({
      resource: 'https://mcp.example.test',
      authorization_servers: [AUTHORIZATION],
      bearer_methods_supported: ['header'],
    })
  })

  test('browsers of allowed origins may read it', async () => {
    const http = { protectedResource: OPTIONS, origins: ['https://app.example.test'] }
    const on = await target(kind, usersApp().router, { http })
    const answer = await on.send({ method: 'GET', path: WELL_KNOWN, headers: { origin: 'https://app.example.test' } })
    expect([answer.status, answer.header('access-control-allow-origin')]).toEqual([200, 'https://app.example.test'])
  })

  test('is not there without the option', async () => {
    const on = await target(kind, usersApp().router)
    const answer = await get(on, WELL_KNOWN)
    expect(answer.status).not.toBe(200)
    expect(answer.text).not.toContain('authorization_servers')
  })
})

describe('endpoints of serve', () => {
  test('publish their own address when no other is given', async () => {
    const { url, port, close } = await serve(usersApp().router, {
      port: 0,
      path: '/team-a/mcp',
      signals: false,
      protectedResource: { authorizationServers: [AUTHORIZATION] },
    })
    afterTest(close)
    const metadata = `http://127.0.0.1:${port}${WELL_KNOWN}/team-a/mcp`
    const refused = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`)
    expect(await (await fetch(metadata)).json()).toMatchObject({ resource: url })
    expect(url).toBe(`http://127.0.0.1:${port}/team-a/mcp`)
  })

  verifies('field.M3', 'two that are mounted on one host do not share a document', async () => {
    const options = (team: string) => ({
      protectedResource: {
        resource: `https://mcp.example.test/${team}/mcp`,
        authorizationServers: [`https://${team}.example.test`],
      },
    })
    const handlers = new Map(['team-a', 'team-b'].map((team) => [team, nodeHandler(usersApp().router, options(team))]))
    const http = createHttpServer((request, response) => {
      const team = /team-[ab]/.exec(request.url ?? '')?.[0] ?? 'team-a'
      void handlers.get(team)?.(request, response)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', () => resolve()))
    afterTest(() => void http.close())
    const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    for (const team of ['team-a', 'team-b']) {
      const refused = await fetch(`${base}/${team}/mcp`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      })
      const metadata = `https://mcp.example.test${WELL_KNOWN}/${team}/mcp`
      expect(refused.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`)
      expect(await (await fetch(base + new URL(metadata).pathname)).json()).toMatchObject({
        resource: `https://mcp.example.test/${team}/mcp`,
        authorization_servers: [`https://${team}.example.test`],
      })
    }
    // One that is asked for the other's document has none.
    const a = fetchHandler(createServer(usersApp().router), options('team-a'))
    const foreign = await a(new Request(`http://localhost${WELL_KNOWN}/team-b/mcp`))
    expect([foreign.status === 200, (await foreign.text()).includes('authorization_servers')]).toEqual([false, false])
  })
})

describe('options of protectedResource that cannot work', () => {
  const server = createServer(openApp().router)
  const given = { resource: RESOURCE, authorizationServers: [AUTHORIZATION] }
  const WRONG: [string, unknown][] = [
    ['no issuer', { resource: RESOURCE, authorizationServers: [] }],
    ['no list of issuers', { resource: RESOURCE }],
    ['an issuer alone', { resource: RESOURCE, authorizationServers: AUTHORIZATION }],
    ['no resource', { authorizationServers: [AUTHORIZATION] }],
    ['a path as resource', { ...given, resource: '/mcp' }],
    ['a resource with a fragment', { ...given, resource: `${RESOURCE}#x` }],
    ['an unknown option', { ...given, authorization_servers: [AUTHORIZATION] }],
    ['scopes as text', { ...given, scopes: 'read write' }],
    ['an issuer that is no URL', { ...given, authorizationServers: ['auth'] }],
    ['scopes that are no text', { ...given, scopes: [1] }],
  ]
  test.each(WRONG)('%s is a TypeError', (_name, protectedResource) => {
    const options = { protectedResource } as never
    expect(() => httpEndpoint(server, options)).toThrow(TypeError)
    expect(() => httpEndpoint(server, options)).toThrow(/protectedResource/)
    expect(() => fetchHandler(server, options)).toThrow(TypeError)
    expect(() => nodeHandler(server, options)).toThrow(TypeError)
  })

  test('serve needs no resource, and refuses the rest', async () => {
    const options = { port: 0, signals: false, protectedResource: { authorizationServers: [] } }
    await expect(serve(server, options)).rejects.toThrow(/authorizationServers/)
  })
})
