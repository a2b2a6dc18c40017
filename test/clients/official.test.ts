import { serve } from 'phantom-mcp/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { notesRouter } from '../../examples/notes/router.js'
import { eventually } from '../http/_eventually.js'
import { bundled } from '../stdio/_child.js'
import { type AnyClient, connect, type Json, KINDS, type Kind } from './_clients.js'

// The official clients drive the notes application of examples/notes, as it is, with one tool more that waits for ever.

const PROGRAM = `
import { serveStdio } from 'phantom-mcp/stdio'
import { notesRouter } from './examples/notes/router.js'
import { addWait } from './test/clients/_wait.js'

await serveStdio(addWait(notesRouter(), (word) => console.error(word)))
`

let program = ''
beforeAll(async () => {
  program = await bundled(PROGRAM)
})

const TOOLS = ['add_note', 'search_notes', 'delete_note', 'export_notes', 'wait', 'routed']
const blocks = (result: Json): Json[] => result['content'] as Json[]

describe.each(['http', 'stdio'])('over %s', (transport) => {
  describe.each(KINDS)('the official client %s', (kind: Kind) => {
    let client: AnyClient
    let said = ''
    let closeServer: () => Promise<void> = async () => undefined

    beforeAll(async () => {
      if (transport === 'stdio') {
        client = await connect(kind, {
          file: program,
          onStderr: (text) => {
            said += text
          },
        })
        return
      }
      const { addWait } = await import('./_wait.js')
      const router = addWait(notesRouter(), (word) => {
        said += word
      })
      const serving = await serve(router, { port: 0, signals: false })
      closeServer = () => serving.close()
      client = await connect(kind, { url: serving.url })
    })
    afterAll(async () => {
      await client.close()
      await closeServer()
    })

    test('connects, in the version that it can have', () => {
      expect(client.server).toMatchObject({ name: 'notes', version: '1.0.0' })
      expect(client.instructions).toContain('Search before adding')
      expect(client.capabilities).toMatchObject({ tools: {}, prompts: {}, resources: {}, completions: {} })
      const expected = kind === 'v1' ? undefined : kind === 'v2 legacy' ? '2025-11-25' : '2026-07-28'
      expect(client.version).toBe(expected)
    })

    test('lists', async () => {
      expect((await client.listTools()).map(({ name }) => name)).toEqual(TOOLS)
      expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['summarise_note', 'plan_week'])
      const uris = (await client.listResources()).map(({ uri }) => uri)
      expect(uris).toContain('notes://about')
      expect(uris).toContain('notes://note/1')
      expect((await client.listTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual(['notes://note/{id}'])
    })

    test('calls, and gets what its schema promises', async () => {
      const added = await client.callTool('add_note', { title: 'Ärger', text: 'naïve — 漢字 🧭', tags: ['plan'] })
      const { id, uri } = added['structuredContent'] as { id: string; uri: string }
      expect(uri).toBe(`notes://note/${id}`)
      const [contents] = await client.readResource(uri)
      expect(contents).toMatchObject({ uri, mimeType: 'text/markdown' })
      expect(contents?.['text']).toContain('naïve — 漢字 🧭')
      const found = await client.callTool('search_notes', { text: '漢字' })
      expect(blocks(found)[0]).toMatchObject({ type: 'text', text: `${id}: Ärger` })
      expect(blocks(found)[1]).toMatchObject({ type: 'resource_link', uri })
      expect(blocks(await client.callTool('delete_note', { id }))[0]).toMatchObject({ text: `Note ${id} is deleted.` })
      const again = await client.callTool('delete_note', { id })
      expect(again['isError']).toBe(true)
    })

    test('gets bad arguments told to the model', async () => {
      const refused = await client.callTool('add_note', { title: '', text: 5 })
      expect(refused['isError']).toBe(true)
      expect(JSON.stringify(refused['content'])).toContain('text')
    })

    test('gets errors of the protocol', async () => {
      await expect(client.callTool('no_such_tool')).rejects.toMatchObject({ code: -32602 })
      const missing = client.readResource('notes://note/999')
      // v2 makes the older -32002 the same error of its own.
      await expect(missing).rejects.toMatchObject({ code: kind === 'v1' ? -32002 : -32602 })
      await expect(client.getPrompt('no_such_prompt', {})).rejects.toMatchObject({ code: -32602 })
    })

    test('reads', async () => {
      const [about] = await client.readResource('notes://about')
      expect(about).toMatchObject({ uri: 'notes://about', mimeType: 'application/json' })
      expect(JSON.parse(String(about?.['text']))).toMatchObject({ notes: 3 })
    })

    test('gets prompts', async () => {
      const messages = await client.getPrompt('summarise_note', { id: '1' })
      expect(messages).toHaveLength(2)
      expect(messages[0]).toMatchObject({
        role: 'user',
        content: { type: 'resource', resource: { uri: 'notes://note/1' } },
      })
      expect(messages[1]).toMatchObject({ content: { type: 'text', text: 'Summarise this note in one sentence.' } })
    })

    test('completes arguments of prompts and variables of resources', async () => {
      expect(await client.complete({ prompt: 'plan_week' }, { name: 'tag', value: 'b' })).toEqual(['books'])
      expect(await client.complete({ template: 'notes://note/{id}' }, { name: 'id', value: '2' })).toEqual(['2'])
    })

    test('sees progress, step by step, before the answer', async () => {
      const steps: unknown[] = []
      const result = await client.callTool(
        'export_notes',
        { delay_ms: 5 },
        {
          onprogress: ({ progress, total, message }) => steps.push([progress, total, message]),
        },
      )
      const expected = [
        [1, 3, 'Groceries'],
        [2, 3, 'Release plan'],
        [3, 3, 'Reading list'],
      ]
      // A progress that arrives in one chunk with the answer is lost inside of these clients: they take answers first.
      if (transport === 'stdio' && steps.length === 2) expected.pop()
      expect(steps).toEqual(expected)
      expect(String(blocks(result)[0]?.['text'])).toContain('# Groceries')
    })

    test('cancels: its call rejects, and the handler is told', async () => {
      said = ''
      const giveUp = new AbortController()
      const call = client.callTool('wait', {}, { signal: giveUp.signal })
      const outcome = call.then(
        () => 'answered',
        () => 'rejected',
      )
      await eventually(() => said).toContain('waiting')
      giveUp.abort('enough')
      expect(await outcome).toBe('rejected')
      await eventually(() => said).toContain('aborted')
      expect((await client.listPrompts()).length).toBe(2)
    })

    test('sends arguments in headers where the schema asks for it', async () => {
      await client.listTools()
      for (const region of ['eu', 'größe 漢字', ' padded ', '=?base64?x?=']) {
        const result = await client.callTool('routed', { region, count: 42 })
        expect(JSON.parse(String(blocks(result)[0]?.['text']))).toEqual({ region, count: 42 })
      }
    })

    test('many calls at once', async () => {
      const ids = Array.from({ length: 20 }, (_, at) => at)
      const results = await Promise.all(ids.map((at) => client.callTool('routed', { region: `r${at}`, count: at })))
      expect(results.map((result) => JSON.parse(String(blocks(result)[0]?.['text'])))).toEqual(
        ids.map((at) => ({ region: `r${at}`, count: at })),
      )
    })

    test('pings where the version has it', async () => {
      if (kind === 'v1' || kind === 'v2 legacy') expect(await client.ping()).toEqual({})
      else await expect(client.ping()).rejects.toThrow()
    })
  })
})

test('a v1 and a v2 client share one server', async () => {
  const serving = await serve(notesRouter(), { port: 0, signals: false })
  const clients = await Promise.all(KINDS.map((kind) => connect(kind, { url: serving.url })))
  for (const [at, client] of clients.entries()) {
    await client.callTool('add_note', { title: `from ${KINDS[at]}`, text: 'x' })
  }
  const found = await clients[0]?.callTool('search_notes', { text: 'from ' })
  for (const kind of KINDS) expect(String(blocks(found ?? {})[0]?.['text'])).toContain(`from ${kind}`)
  await Promise.all(clients.map((client) => client.close()))
  await serving.close()
})
