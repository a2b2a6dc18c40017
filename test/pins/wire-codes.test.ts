import { createRouter, type ErrorCode, McpError } from 'phantom-mcp'
import { expect } from 'vitest'
import { codeOf, request } from '../_messages.js'
import { describeMatrix, verifies } from '../_setup.js'

// What a client program may have written down: numbers and method names, as literals.

const SESSION_CODES: Readonly<Record<ErrorCode, number>> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  RESOURCE_NOT_FOUND: -32002,
  HEADER_MISMATCH: -32600,
  MISSING_CLIENT_CAPABILITY: -32602,
  UNSUPPORTED_PROTOCOL_VERSION: -32602,
  URL_ELICITATION_REQUIRED: -32042,
  TASK_EXPIRED: -32602,
}
const STATELESS_CODES: Readonly<Record<ErrorCode, number>> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  RESOURCE_NOT_FOUND: -32602,
  HEADER_MISMATCH: -32020,
  MISSING_CLIENT_CAPABILITY: -32021,
  UNSUPPORTED_PROTOCOL_VERSION: -32022,
  URL_ELICITATION_REQUIRED: -32602,
  TASK_EXPIRED: -32602,
}
/** HTTP status of the same, in band unless the version says otherwise. */
const STATELESS_STATUSES: Readonly<Record<ErrorCode, number>> = {
  PARSE_ERROR: 400,
  INVALID_REQUEST: 400,
  METHOD_NOT_FOUND: 404,
  INVALID_PARAMS: 200,
  INTERNAL_ERROR: 200,
  RESOURCE_NOT_FOUND: 200,
  HEADER_MISMATCH: 400,
  MISSING_CLIENT_CAPABILITY: 400,
  UNSUPPORTED_PROTOCOL_VERSION: 400,
  URL_ELICITATION_REQUIRED: 200,
  TASK_EXPIRED: 200,
}

describeMatrix('wire codes', {}, (setup, cell) => {
  verifies(['errors.mcp-error', 'errors.modern-numbers'], 'are these', async () => {
    const router = createRouter({ name: 'pins', version: '1.0.0' })
    for (const code of Object.keys(SESSION_CODES) as ErrorCode[]) {
      router.tool(code, {}, () => {
        throw new McpError(code, `This is ${code}`, { data: { code } })
      })
    }
    const client = await setup(router)
    for (const [name, number] of Object.entries(cell.sessions ? SESSION_CODES : STATELESS_CODES)) {
      const thrown = client.callTool(name)
      await expect(thrown, name).rejects.toMatchObject({
        code: number,
        message: `This is ${name}`,
        data: { code: name },
      })
      if (cell.http && !cell.sessions)
        expect(setup.wire.statuses.at(-1), name).toBe(STATELESS_STATUSES[name as ErrorCode])
    }
  })
})

const SESSION_METHODS = [
  'ping',
  'logging/setLevel',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
]
const STATELESS_METHODS = [
  'server/discover',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
]
/** `initialize` is asked apart: once in a session it is refused, and not unknown. */
const ALL = [
  ...new Set([
    ...SESSION_METHODS,
    ...STATELESS_METHODS,
    'notifications/initialized',
    'roots/list',
    'sampling/createMessage',
    'elicitation/create',
    'tasks/list',
  ]),
]

describeMatrix('methods', {}, (setup, cell) => {
  verifies(['era.methods', 'rpc.unknown-method'], 'are these and no others', async () => {
    const router = createRouter({ name: 'pins', version: '1.0.0' })
    router.tool('noop', {}, () => 'ok')
    router.prompt('noop', { arguments: { a: { complete: () => [] } } }, () => 'ok')
    router.resource('notes://plain', { name: 'plain' }, () => 'ok')
    await setup(router)
    const known: string[] = []
    for (const method of ALL) {
      const answer = await setup.wire.ask(request(cell, method, { method }))
      if (codeOf(answer) !== -32601) known.push(method)
    }
    expect(known.sort()).toEqual((cell.sessions ? SESSION_METHODS : STATELESS_METHODS).toSorted())
    const again = await setup.wire.ask(
      request(cell, 'i', { method: 'initialize', params: { protocolVersion: cell.version } }),
    )
    expect(codeOf(again)).toBe(cell.sessions ? -32600 : -32601)
  })
})
