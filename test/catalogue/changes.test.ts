import { createRouter, defineFor, field } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'
import {
  argumentErrors,
  capabilitiesOf,
  createCatalogue,
  createGate,
  entriesOf,
  namesOf,
  readText,
  textOf,
} from './_catalogue.js'

const app = defineFor()

describeMatrix('a change of a router that is served', {}, (setup, { sessions }) => {
  const notFound = { code: sessions ? -32002 : -32602 }

  test('of its tools is there with the next request', async () => {
    const router = createCatalogue()
    router.tool('first', {}, () => 'one')
    const client = await setup(router)
    expect(await namesOf(client, 'tools')).toEqual(['first'])
    await expect(client.callTool('second')).rejects.toMatchObject({ code: -32602 })

    router.tool('second', { input: { id: field.integer({ required: true }) } }, ({ id }) => `two ${id}`)
    expect(await namesOf(client, 'tools')).toEqual(['first', 'second'])
    expect(textOf(await client.callTool('second', { id: 2 }))).toBe('two 2')

    router.replace(
      app.tool(
        'first',
        { description: 'Newer.', input: { n: field.integer({ required: true }) } },
        ({ n }) => `new ${n}`,
      ),
    )
    expect(await entriesOf(client, 'tools')).toMatchObject([
      { name: 'first', description: 'Newer.' },
      { name: 'second' },
    ])
    expect(await argumentErrors(client.callTool('first'))).toEqual(['n is required'])
    expect(textOf(await client.callTool('first', { n: 1 }))).toBe('new 1')

    expect(router.remove('tool', 'first')).toBe(true)
    expect(router.remove('tool', 'first')).toBe(false)
    expect(router.remove('tool', 'none')).toBe(false)
    expect(router.remove('prompt', 'second')).toBe(false)
    expect(await namesOf(client, 'tools')).toEqual(['second'])
    await expect(client.callTool('first', { n: 1 })).rejects.toMatchObject({ code: -32602 })

    router.tool('first', {}, () => 'again')
    expect(await namesOf(client, 'tools')).toEqual(['second', 'first'])
    expect(textOf(await client.callTool('first'))).toBe('again')
  })

  test('of its prompts is there with the next request', async () => {
    const router = createCatalogue()
    router.prompt('first', {}, () => 'one')
    const client = await setup(router)
    expect(await namesOf(client, 'prompts')).toEqual(['first'])
    router.prompt('second', { arguments: { id: { complete: () => ['a'] } } }, () => 'two')
    expect(await namesOf(client, 'prompts')).toEqual(['first', 'second'])
    expect((await client.complete({ prompt: 'second' }, { name: 'id', value: '' })).completion.values).toEqual(['a'])
    router.replace(app.prompt('first', { arguments: { id: { required: true } } }, ({ id }) => `new ${id}`))
    await expect(client.getPrompt('first')).rejects.toMatchObject({ code: -32602 })
    expect(await client.getPrompt('first', { id: '1' })).toMatchObject({ messages: [{ content: { text: 'new 1' } }] })
    expect(router.remove('prompt', 'first')).toBe(true)
    expect(await namesOf(client, 'prompts')).toEqual(['second'])
    await expect(client.getPrompt('first', { id: '1' })).rejects.toMatchObject({ code: -32602 })
  })

  test('of its resources is there with the next request, in both lists and in what a URI leads to', async () => {
    const router = createCatalogue()
    router.resource('docs:///*path', { name: 'any' }, ({ path }) => `any ${path}`)
    const client = await setup(router)
    expect(await namesOf(client, 'resources')).toEqual([])
    expect(await readText(client, 'docs:///a/index')).toBe('any a/index')

    router.resource('docs:///a/index', { name: 'index' }, () => 'index')
    router.resource('docs:///a/:id', { name: 'item' }, ({ id }) => `item ${id}`)
    expect(await namesOf(client, 'resources')).toEqual(['index'])
    expect(await namesOf(client, 'resources/templates')).toEqual(['any', 'item'])
    expect(await readText(client, 'docs:///a/index')).toBe('index')
    expect(await readText(client, 'docs:///a/b')).toBe('item b')

    // A fixed resource becomes a template, and moves to the other list.
    router.replace(app.resource('docs:///a/{id}/index', { name: 'index' }, ({ id }) => `index ${id}`))
    expect(await namesOf(client, 'resources')).toEqual([])
    expect(await namesOf(client, 'resources/templates')).toEqual(['any', 'index', 'item'])
    expect(await readText(client, 'docs:///a/index')).toBe('item index')
    expect(await readText(client, 'docs:///a/b/index')).toBe('index b')

    expect(router.remove('resource', 'item')).toBe(true)
    expect(router.remove('resource', 'any')).toBe(true)
    await expect(client.readResource('docs:///a/b')).rejects.toMatchObject(notFound)
    expect(router.resourceUri('index', { id: 'z' })).toBe('docs:///a/z/index')
    expect(() => router.resourceUri('item', { id: 'z' })).toThrow('item')
  })

  test('is seen by every client, and changes what is declared', async () => {
    const router = createCatalogue()
    const first = await setup(router)
    await expect(first.list('tools')).rejects.toMatchObject({ code: -32601 })
    expect(await capabilitiesOf(first)).not.toHaveProperty('tools')
    router.tool('only', {}, () => 'ok')
    const second = await setup.another()
    expect(await capabilitiesOf(second)).toHaveProperty('tools')
    for (const client of [first, second]) expect(await namesOf(client, 'tools')).toEqual(['only'])
    router.remove('tool', 'only')
    expect(await capabilitiesOf(await setup.another())).not.toHaveProperty('tools')
    for (const client of [first, second]) await expect(client.list('tools')).rejects.toMatchObject({ code: -32601 })
  })

  test('leaves what runs already alone', async () => {
    const router = createCatalogue()
    const gate = createGate()
    let running = 0
    router.tool('slow', { output: { n: field.integer({ required: true }) } }, async () => {
      running++
      await gate.passed
      return { n: 1 }
    })
    router.tool('gone', {}, async () => {
      running++
      await gate.passed
      return 'old'
    })
    const client = await setup(router)
    const slow = client.callTool('slow')
    const gone = client.callTool('gone')
    await expect.poll(() => running, { interval: 5 }).toBe(2)
    router.replace(app.tool('slow', { output: { s: field.string({ required: true }) } }, () => ({ s: 'new' })))
    router.remove('tool', 'gone')
    expect(textOf(await client.callTool('slow'))).toBe('{"s":"new"}')
    gate.open()
    expect(textOf(await slow)).toBe('{"n":1}')
    expect(textOf(await gone)).toBe('old')
  })

  test('can be made by a handler', async () => {
    const router = createCatalogue()
    router.tool('learn', { input: { name: field.string({ required: true }) } }, ({ name }) => {
      router.tool(name, {}, () => `I am ${name}`)
      return `learned ${name}`
    })
    const client = await setup(router)
    expect(textOf(await client.callTool('learn', { name: 'dance' }))).toBe('learned dance')
    expect(textOf(await client.callTool('dance'))).toBe('I am dance')
    // What a registration throws is a mistake of the handler's.
    await expect(client.callTool('learn', { name: 'dance' })).rejects.toMatchObject({ code: -32603 })
    expect(setup.expectErrors(1)[0]).toBeInstanceOf(TypeError)
  })
})

describe('a change that cannot be', () => {
  const ok = (): string => 'ok'
  const full = () => {
    const router = createCatalogue()
    router.tool('greet', {}, ok)
    router.prompt('review', {}, ok)
    router.resource('x:///a/:id', { name: 'study' }, ok)
    router.resource('x:///about', { name: 'about' }, ok)
    return router
  }
  const thrown = (run: () => unknown): string => {
    try {
      run()
    } catch (error) {
      if (error instanceof TypeError) return error.message
      throw error
    }
    throw new Error('Nothing was thrown')
  }

  test('is a name that is taken, whose message says of what', () => {
    const router = full()
    expect(thrown(() => router.tool('greet', {}, ok))).toMatch(/tool 'greet'.*tools/)
    expect(thrown(() => router.prompt('review', {}, ok))).toMatch(/prompt 'review'.*prompts/)
    expect(thrown(() => router.resource('x:///b/:id', { name: 'study' }, ok))).toMatch(/resource 'study'.*resources/)
    expect(thrown(() => router.add(app.tool('greet', {}, ok)))).toContain("tool 'greet'")
    // One name may be of a tool, a prompt and a resource.
    router.tool('study', {}, ok)
    router.prompt('study', {}, ok)
  })

  test('is a pattern that is taken, whose message names both', () => {
    const router = full()
    for (const pattern of ['x:///a/:id', 'x:///a/{id}']) {
      const message = thrown(() => router.resource(pattern, { name: 'other' }, ok))
      expect(message).toContain("'study'")
      expect(message).toContain("'other'")
      expect(message).toContain(pattern)
    }
    const message = thrown(() => router.replace(app.resource('x:///about', { name: 'study' }, ok)))
    expect(message).toContain("'study'")
    expect(message).toContain("'about'")
    // Its own pattern is no obstacle.
    router.replace(app.resource('x:///a/{id}', { name: 'study' }, ok))
  })

  test('is a name or a pattern that is none, whose message shows it', () => {
    const router = full()
    for (const name of ['', 'two words', 'a/b', 'x'.repeat(129), 'a\n']) {
      for (const run of [
        () => router.tool(name, {}, ok),
        () => router.prompt(name, {}, ok),
        () => router.resource('x:///z', { name }, ok),
      ]) {
        const message = thrown(run)
        expect(message, name).toContain(name)
        expect(message, name).toMatch(/128/)
      }
    }
    for (const pattern of [
      'plain',
      'x:///{a',
      'x:///{a}{a}',
      'x:///*rest/more',
      'http://:id/x',
      'x:///{?}',
      'x:///{a b}',
    ]) {
      const message = thrown(() => router.resource(pattern, { name: 'bad' }, ok))
      expect(message).toContain(pattern)
      expect(message.length, message).toBeGreaterThan(pattern.length + 20)
    }
  })

  test('is a replacement of what is not there', () => {
    const router = full()
    expect(thrown(() => router.replace(app.tool('none', {}, ok)))).toContain("tool 'none'")
    // A prompt does not replace a tool of its name.
    expect(thrown(() => router.replace(app.prompt('greet', {}, ok)))).toContain("prompt 'greet'")
  })

  test('leaves everything as it was', async () => {
    const router = full()
    const definitions = [app.tool('new', {}, ok), app.tool('greet', {}, () => 'other'), app.tool('last', {}, ok)]
    expect(() => router.add(...definitions)).toThrow(TypeError)
    expect(() => router.resource('x:///about', { name: 'other' }, ok)).toThrow(TypeError)
    expect(() => router.replace(app.resource('x:///about', { name: 'study' }, ok))).toThrow(TypeError)
    expect(router.resourceUri('study', { id: 1 })).toBe('x:///a/1')
    expect(() => router.resourceUri('other')).toThrow('other')
    // All or nothing: what came before the mistake is not there either.
    expect(router.remove('tool', 'new')).toBe(false)
    expect(router.remove('tool', 'last')).toBe(false)
  })
})

describe('definitions of defineFor', () => {
  test('can be registered with several routers, and go from one without going from the other', async () => {
    const greet = app.tool('greet', {}, (_params, session) => session.call.name ?? '')
    const study = app.resource('x:///:id', { name: 'study' }, ({ id }) => id)
    const [first, second] = [createCatalogue(), createRouter({ name: 'second', version: '1.0.0' })]
    expect(first.add(greet, study)).toBe(first)
    second.add(study).add(greet)
    expect(first.remove('tool', 'greet')).toBe(true)
    expect(second.remove('tool', 'greet')).toBe(true)
    expect(first.resourceUri('study', { id: 1 })).toBe('x:///1')
  })

  test('are checked where they are made', () => {
    expect(() => app.tool('two words', {}, () => 'x')).toThrow(TypeError)
    expect(() => app.resource('plain' as 'x:///a', { name: 'plain' }, () => 'x')).toThrow(TypeError)
  })

  test('are all that a router can be given', () => {
    const router = createCatalogue()
    for (const value of [undefined, null, {}, { kind: 'tool', name: 'x' }, () => 'x', 'greet']) {
      expect(() => router.add(value as never), String(value)).toThrow(TypeError)
      expect(() => router.replace(value as never), String(value)).toThrow(TypeError)
    }
    expect(() => router.remove('toll' as never, 'x')).toThrow(/toll/)
  })
})
