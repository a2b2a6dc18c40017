import { createRouter, field } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import {
  begin,
  codeOf,
  type Json,
  legacy,
  META,
  modern,
  resultOf,
  type Sent,
  TARGETS,
  target,
  textBlockOf,
} from '../http/_http.js'

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__']

function router() {
  const made = createRouter({ name: 'x', version: '1.0.0' })
  made.tool('inherited', { inputSchema: { type: 'object' } }, (params) => {
    const seen = params as Record<string, unknown>
    return JSON.stringify({
      admin: seen['admin'],
      own: Object.keys(seen),
      proto: Object.getPrototypeOf(seen) === Object.prototype,
    })
  })
  made.tool('fields', { input: { text: field.string() } }, (params) =>
    JSON.stringify({ admin: (params as Json)['admin'], text: params.text }),
  )
  made.prompt('ask', { arguments: { about: { complete: () => ['a'] } } }, ({ about }) => `About ${about}`)
  made.resource('x://one', { name: 'one' }, () => 'one')
  made.resource('x://many/:id', { name: 'many', complete: { id: () => ['1'] } }, ({ id }) => id)
  return made
}

/** A modern request whose params are written by hand, for keys that JSON.stringify cannot write. */
function raw(method: string, params: string, name?: string): Sent {
  const sent = modern(method, name === undefined ? {} : { name })
  const meta = `"_meta":${JSON.stringify(META)}`
  return {
    ...sent,
    body: `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":{${params}${params === '' ? '' : ','}${meta}}}`,
  }
}

describe.each(TARGETS)('names of prototypes over %s', (kind) => {
  test.each(NAMES)('%s is no method, tool, prompt, resource, argument, cursor or completion', async (name) => {
    const on = await target(kind, router())
    const { headers } = await begin(on)
    expect(codeOf(await on.send(modern(name)))).toBe(-32601)
    expect(codeOf(await on.send(legacy(name, {}, { headers })))).toBe(-32601)
    for (const [method, params] of [
      ['tools/call', { name }],
      ['prompts/get', { name }],
      ['resources/read', { uri: name }],
      ['tools/list', { cursor: name }],
      ['completion/complete', { ref: { type: name, name: 'ask' }, argument: { name: 'about', value: '' } }],
      ['completion/complete', { ref: { type: 'ref/prompt', name }, argument: { name: 'about', value: '' } }],
      ['completion/complete', { ref: { type: 'ref/resource', uri: name }, argument: { name: 'id', value: '' } }],
    ] as [string, Json][]) {
      const now = await on.send(modern(method, params))
      expect([method, codeOf(now)]).toEqual([method, -32602])
      const before = codeOf(await on.send(legacy(method, params, { headers })))
      expect([method, [-32602, -32002].includes(before as number)]).toEqual([method, true])
    }
    // Nothing is known of such an argument, as of any other that is not there.
    const completed = async (argument: string): Promise<unknown> => {
      const ref = { type: 'ref/prompt', name: 'ask' }
      return (await on.send(modern('completion/complete', { ref, argument: { name: argument, value: '' } }))).message
    }
    expect(await completed(name)).toEqual(await completed('nothing'))
    expect(await completed('about')).toMatchObject({ result: { completion: { values: ['a'] } } })
    const level = { 'io.modelcontextprotocol/logLevel': name }
    expect(codeOf(await on.send(modern('tools/list', {}, { meta: level })))).toBe(-32602)
    expect(codeOf(await on.send(legacy('logging/setLevel', { level: name }, { headers })))).toBe(-32602)
    expect(on.errors).toEqual([])
  })

  test.each(NAMES)('%s as a key of arguments changes no prototype', async (name) => {
    const on = await target(kind, router())
    const args = `"arguments":{${JSON.stringify(name)}:{"admin":true},"text":"t"}`
    for (const tool of ['inherited', 'fields']) {
      const answer = await on.send(raw('tools/call', `"name":"${tool}",${args}`, tool))
      expect(answer.status).toBe(200)
      const result = resultOf(answer)
      if (result?.['isError'] !== true) expect(JSON.parse(String(textBlockOf(answer)))['admin']).toBeUndefined()
    }
    expect(({} as Json)['admin']).toBeUndefined()
  })

  test('__proto__ in a message stands for nothing that is missing', async () => {
    const on = await target(kind, router())
    const nameless = await on.send(raw('tools/call', '"__proto__":{"name":"inherited"}'))
    expect([400, 200]).toContain(nameless.status)
    expect([-32602, -32020]).toContain(codeOf(nameless))
    const methodless = { ...modern('tools/list'), body: '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"tools/list"}}' }
    expect(codeOf(await on.send(methodless))).toBe(-32600)
    const versionless = {
      ...modern('tools/list'),
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"__proto__":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}',
    }
    expect([(await on.send(versionless)).status, codeOf(await on.send(versionless))]).toEqual([400, -32602])
    const listed = await on.send(
      raw('tools/list', '"__proto__":{"cursor":"x"},"constructor":{"prototype":{"admin":true}}'),
    )
    expect(listed.status).toBe(200)
    expect(({} as Json)['admin']).toBeUndefined()
  })

  test('a header of such a name is no session and no version', async () => {
    const on = await target(kind, router())
    const answer = await on.send(legacy('tools/list', {}, { headers: { 'mcp-session-id': '__proto__' } }))
    expect(answer.status).toBe(404)
    const version = await on.send(modern('tools/list', {}, { headers: { 'mcp-protocol-version': 'constructor' } }))
    expect([version.status, codeOf(version)]).toEqual([400, -32020])
  })

  test('a variable of a resource may have such a value', async () => {
    const on = await target(kind, router())
    for (const name of NAMES) {
      const uri = `x://many/${name}`
      const answer = await on.send(modern('resources/read', { uri }, { headers: { 'mcp-name': uri } }))
      expect(resultOf(answer)).toMatchObject({ contents: [{ text: name }] })
    }
  })
})
