import { createRouter, createServer, defineFor, field, Prompt, Resource, Tool, withCache } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { serve } from 'phantom-mcp/node'
import { serveStdio } from 'phantom-mcp/stdio'
import { connect } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { verifies } from '../_setup.js'

// What a typed program would not compile, a program in JavaScript still writes: all of this goes in untyped.

type Untyped = (...args: unknown[]) => unknown
interface UntypedRouter {
  readonly tool: Untyped
  readonly prompt: Untyped
  readonly resource: Untyped
  readonly use: Untyped
  readonly add: Untyped
}

const fresh = (): UntypedRouter => createRouter({ name: 'registration', version: '1.0.0' }) as unknown as UntypedRouter
const ok = (): string => 'ok'

/** A mistake, and what the message has to name. */
type Mistake = readonly [title: string, run: () => unknown, ...words: string[]]

const inputs = (header: object): object => ({
  inputSchema: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' }, ...header } },
})

const TOOLS: readonly Mistake[] = [
  ['an unknown option', () => fresh().tool('greet', { inptu: {} }, ok), "tool 'greet'", 'inptu'],
  ['no handler', () => fresh().tool('greet', {}), "tool 'greet'", 'handler'],
  ['a handler that is no function', () => fresh().tool('greet', {}, 'ok'), "tool 'greet'"],
  ['no options', () => fresh().tool('greet', ok), "tool 'greet'"],
  ['a name with a space', () => fresh().tool('greet me', {}, ok), 'greet me', 'name'],
  ['an empty name', () => fresh().tool('', {}, ok), 'name'],
  ['a name that is too long', () => fresh().tool('x'.repeat(129), {}, ok), 'name', '128'],
  ['a name that is no text', () => fresh().tool(5, {}, ok), 'name'],
  [
    'two inputs',
    () => fresh().tool('greet', { input: {}, inputSchema: { type: 'object' } }, ok),
    "tool 'greet'",
    'inputSchema',
  ],
  [
    'two outputs',
    () => fresh().tool('greet', { output: {}, outputSchema: { type: 'object' } }, ok),
    "tool 'greet'",
    'outputSchema',
  ],
  [
    'an input that is a list',
    () => fresh().tool('greet', { inputSchema: { type: 'array' } }, ok),
    "tool 'greet'",
    'object',
  ],
  ['an input without a type', () => fresh().tool('greet', { inputSchema: {} }, ok), "tool 'greet'", 'object'],
  [
    'a Standard Schema of a list',
    () => fresh().tool('greet', { input: z.array(z.string()) }, ok),
    "tool 'greet'",
    'object',
  ],
  ['a JSON Schema as input', () => fresh().tool('greet', { input: { type: 'object' } }, ok), "tool 'greet'", 'type'],
  ['null as input schema', () => fresh().tool('greet', { inputSchema: null }, ok), "tool 'greet'"],
  [
    'a keyword of the wrong kind',
    () => fresh().tool('greet', { inputSchema: { type: 'object', required: 'name' } }, ok),
    "tool 'greet'",
    'required',
  ],
  [
    'a type that is none',
    () => fresh().tool('greet', { inputSchema: { type: 'object', properties: { a: { type: 'text' } } } }, ok),
    "tool 'greet'",
  ],
  [
    'a dialect that is not known',
    () =>
      fresh().tool(
        'greet',
        { inputSchema: { $schema: 'http://json-schema.org/draft-03/schema#', type: 'object' } },
        ok,
      ),
    "tool 'greet'",
    'draft-03',
  ],
  [
    'a reference to elsewhere',
    () =>
      fresh().tool(
        'greet',
        { inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.com/s.json' } } } },
        ok,
      ),
    "tool 'greet'",
    'https://example.com/s.json',
  ],
  [
    'a reference to nothing',
    () => fresh().tool('greet', { inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/none' } } } }, ok),
    "tool 'greet'",
    '#/$defs/none',
  ],
  [
    'a field that is none',
    () => fresh().tool('greet', { input: { name: 'string' } }, ok),
    "tool 'greet'",
    'name',
    'field',
  ],
  [
    'the same name twice',
    () => {
      const router = fresh()
      router.tool('greet', {}, ok)
      router.tool('greet', {}, ok)
    },
    "tool 'greet'",
    'unique',
  ],
  [
    'a header on a number',
    () => fresh().tool('greet', inputs({ size: { type: 'number', 'x-mcp-header': 'Size' } }), ok),
    "tool 'greet'",
    'x-mcp-header',
    'size',
  ],
  [
    'a header twice',
    () => fresh().tool('greet', inputs({ size: { type: 'integer', 'x-mcp-header': 'COUNT' } }), ok),
    "tool 'greet'",
    'x-mcp-header',
    'size',
  ],
  [
    'a header that is no token',
    () => fresh().tool('greet', inputs({ size: { type: 'integer', 'x-mcp-header': 'a b' } }), ok),
    "tool 'greet'",
    'x-mcp-header',
    'a b',
  ],
  [
    'an empty header',
    () => fresh().tool('greet', inputs({ size: { type: 'integer', 'x-mcp-header': '' } }), ok),
    "tool 'greet'",
    'x-mcp-header',
  ],
  [
    'a header under a list',
    () =>
      fresh().tool('greet', inputs({ list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } } }), ok),
    "tool 'greet'",
    'x-mcp-header',
    'items',
  ],
  [
    'a header in a choice',
    () => fresh().tool('greet', inputs({ one: { anyOf: [{ type: 'string', 'x-mcp-header': 'One' }] } }), ok),
    "tool 'greet'",
    'x-mcp-header',
    'anyOf',
  ],
  [
    'a header behind a reference',
    () =>
      fresh().tool(
        'greet',
        {
          inputSchema: {
            type: 'object',
            properties: { a: { $ref: '#/$defs/a' } },
            $defs: { a: { type: 'string', 'x-mcp-header': 'A' } },
          },
        },
        ok,
      ),
    "tool 'greet'",
    'x-mcp-header',
  ],
]

const OTHERS: readonly Mistake[] = [
  ['a prompt with an unknown option', () => fresh().prompt('review', { args: {} }, ok), "prompt 'review'", 'args'],
  ['a prompt without a handler', () => fresh().prompt('review', {}), "prompt 'review'"],
  [
    'a prompt whose argument has an unknown option',
    () => fresh().prompt('review', { arguments: { repo: { requird: true } } }, ok),
    "prompt 'review'",
    'repo',
    'requird',
  ],
  [
    'a prompt whose completer is no function',
    () => fresh().prompt('review', { arguments: { repo: { complete: ['a'] } } }, ok),
    "prompt 'review'",
    'repo',
    'complete',
  ],
  [
    'a prompt twice',
    () => {
      const router = fresh()
      router.prompt('review', {}, ok)
      router.prompt('review', {}, ok)
    },
    "prompt 'review'",
    'unique',
  ],
  ['a resource without a name', () => fresh().resource('notes://plain', {}, ok), 'notes://plain', 'name'],
  [
    'a resource with an unknown option',
    () => fresh().resource('notes://plain', { name: 'plain', mime: 'x' }, ok),
    'notes://plain',
    'mime',
  ],
  ['a resource without a handler', () => fresh().resource('notes://plain', { name: 'plain' }), 'notes://plain'],
  ['a resource without a scheme', () => fresh().resource('plain', { name: 'plain' }, ok), 'plain'],
  [
    'a resource whose pattern does not end',
    () => fresh().resource('notes://{id', { name: 'plain' }, ok),
    'notes://{id',
  ],
  [
    'a resource that completes what it has not',
    () => fresh().resource('notes://a/:id', { name: 'note', complete: { no: () => [] } }, ok),
    'notes://a/:id',
    'no',
    'id',
  ],
  [
    'a resource name twice',
    () => {
      const router = fresh()
      router.resource('a://1', { name: 'a' }, ok)
      router.resource('a://2', { name: 'a' }, ok)
    },
    "resource 'a'",
    'unique',
  ],
  [
    'a pattern twice',
    () => {
      const router = fresh()
      router.resource('a://x/:id', { name: 'a' }, ok)
      router.resource('a://x/{id}', { name: 'b' }, ok)
    },
    "'b'",
    "'a'",
  ],
  ['a middleware that is no function', () => fresh().use({}), 'use'],
  ['a field with an unknown option', () => (field.string as Untyped)({ requird: true }), 'field.string', 'requird'],
  [
    'a field that is required and has a default',
    () => (field.string as Untyped)({ required: true, default: 'x' }),
    'field.string',
    'required',
    'default',
  ],
  ['a default that does not fit', () => (field.integer as Untyped)({ default: 1.5 }), 'field.integer', 'default'],
]

const CREATION: readonly Mistake[] = [
  ['a router without a name', () => (createRouter as Untyped)({ version: '1' }), 'createRouter', 'name'],
  [
    'a router without a version',
    () => (createRouter as Untyped)({ name: 'x', version: '' }),
    'createRouter',
    'version',
  ],
  [
    'a router with an unknown option',
    () => (createRouter as Untyped)({ name: 'x', version: '1', instruction: '' }),
    'createRouter',
    'instruction',
  ],
  ['pages of nothing', () => createRouter({ name: 'x', version: '1', pageSize: 0 }), 'createRouter', 'pageSize'],
  ['pages of a fraction', () => createRouter({ name: 'x', version: '1', pageSize: 1.5 }), 'createRouter', 'pageSize'],
  [
    'a router with a middleware that is none',
    () => (createRouter as Untyped)({ name: 'x', version: '1', middleware: ['x'] }),
    'createRouter',
    'middleware',
  ],
  [
    'a listResources that is no function',
    () => (createRouter as Untyped)({ name: 'x', version: '1', listResources: [] }),
    'createRouter',
    'listResources',
  ],
  [
    'a server of something else',
    () => (createServer as Untyped)({ name: 'x', version: '1' }),
    'createServer',
    'router',
  ],
  [
    'a server with an unknown option',
    () => (createServer as Untyped)(fresh(), { onEror: () => undefined }),
    'createServer',
    'onEror',
  ],
  [
    'sessions without time',
    () => (createServer as Untyped)(fresh(), { sessionTtlMs: 0 }),
    'createServer',
    'sessionTtlMs',
  ],
  ['no sessions at most', () => (createServer as Untyped)(fresh(), { maxSessions: -1 }), 'createServer', 'maxSessions'],
  [
    'a handler with an unknown option',
    () => (fetchHandler as Untyped)(fresh(), { orgins: [] }),
    'fetchHandler',
    'orgins',
  ],
  [
    'an origin without a scheme',
    () => (fetchHandler as Untyped)(fresh(), { origins: ['example.com'] }),
    'fetchHandler',
    'origins',
    'example.com',
  ],
  [
    'a host with a scheme',
    () => (fetchHandler as Untyped)(fresh(), { hosts: ['https://example.com'] }),
    'fetchHandler',
    'hosts',
  ],
  ['a body of nothing', () => (fetchHandler as Untyped)(fresh(), { maxBodyBytes: 0 }), 'fetchHandler', 'maxBodyBytes'],
  [
    'cookies from anywhere',
    () => (fetchHandler as Untyped)(fresh(), { origins: '*', cors: { credentials: true } }),
    'fetchHandler',
    'credentials',
  ],
]

const CONTENT: readonly Mistake[] = [
  ['text that is none', () => (Tool.text as Untyped)(5), 'Text', 'number'],
  ['an image that is no Base64', () => Tool.image('not base64!', 'image/png'), 'Image', 'Base64'],
  ['a sound of numbers', () => (Prompt.audio as Untyped)([1, 2], 'audio/wav'), 'Audio', 'Base64'],
  ['a blob that is no Base64', () => Resource.blob('%'), 'Resource', 'Base64'],
  ['a structured function', () => Tool.structured(() => 1), 'JSON'],
  ['a time that is none', () => withCache({}, { ttlMs: -1 }), 'withCache', 'ttlMs'],
  ['a scope that is none', () => (withCache as Untyped)({}, { ttlMs: 1, scope: 'all' }), 'withCache', 'scope'],
]

describe('a mistake at registration is a TypeError that names the place', () => {
  for (const [title, mistakes] of Object.entries({
    tools: TOOLS,
    'prompts, resources and fields': OTHERS,
    'routers and servers': CREATION,
    content: CONTENT,
  })) {
    describe(title, () => {
      for (const [name, run, ...words] of mistakes) {
        verifies('registration.mistakes', name, () => {
          let caught: unknown
          try {
            run()
          } catch (error) {
            caught = error
          }
          expect(caught).toBeInstanceOf(TypeError)
          for (const word of words) expect((caught as TypeError).message).toContain(word)
        })
      }
    })
  }

  verifies('registration.mistakes', 'in what listens', async () => {
    const wrong: [() => unknown, string][] = [
      [() => (serve as Untyped)(fresh(), { prot: 1 }), 'prot'],
      [() => serve(fresh() as never, { port: 0, host: '0.0.0.0' }), 'hosts'],
      [() => serve(fresh() as never, { port: 0, path: 'mcp' }), 'path'],
      [() => (serveStdio as Untyped)(fresh(), { maxLineByte: 1 }), 'maxLineByte'],
      [() => serveStdio(fresh() as never, { maxLineBytes: 0 }), 'maxLineBytes'],
    ]
    for (const [run, word] of wrong) {
      const error: unknown = await Promise.resolve(run()).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(TypeError)
      expect((error as TypeError).message).toContain(word)
    }
  })

  verifies('registration.atomic', 'leaves nothing of the mistake behind', async () => {
    const router = createRouter({ name: 'registration', version: '1.0.0' })
    router.tool('greet', {}, () => 'first')
    expect(() => router.tool('greet', {}, () => 'second')).toThrow(TypeError)
    expect(() => router.resource('notes://of/{id', { name: 'note' }, () => 'x')).toThrow(TypeError)
    router.resource('notes://of/:id', { name: 'note' }, () => 'x')
    const client = await connect(router)
    expect(await client.callTool('greet')).toMatchObject({ content: [{ text: 'first' }] })
    await client.close()
  })
})

describe('definitions in files of their own', () => {
  test('are registered with add', async () => {
    const app = defineFor<{ user: string }>()
    const whoami = app.tool('whoami', {}, (_params, session) => session.assigns.user)
    const hello = app.prompt('hello', {}, (_params, session) => `Hello ${session.assigns.user}`)
    const note = app.resource('notes://of/:id', { name: 'note' }, ({ id }, session) => `${session.assigns.user} ${id}`)
    const router = createRouter<{ user: string }>({
      name: 'registration',
      version: '1.0.0',
      connect: (session) => session.assign({ user: 'ada' }),
      principal: () => null,
    })
    router.add(whoami, hello, note)
    expect(() => router.add(whoami)).toThrow(/whoami/)
    const client = await connect(router)
    expect(await client.callTool('whoami')).toMatchObject({ content: [{ text: 'ada' }] })
    expect(await client.getPrompt('hello')).toMatchObject({ messages: [{ content: { text: 'Hello ada' } }] })
    expect(await client.readResource('notes://of/1')).toMatchObject({ contents: [{ text: 'ada 1' }] })
    await client.close()
  })
})
