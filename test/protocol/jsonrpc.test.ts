import { createRouter, field, type Router } from 'phantom-mcp'
import { expect } from 'vitest'
import { codeOf, gate, META, PATIENT, request, requestText } from '../_messages.js'
import { describeMatrix, SESSION_VERSIONS, verifies } from '../_setup.js'

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

function counting(): { router: Router; calls: unknown[] } {
  const calls: unknown[] = []
  const router = createRouter({ name: 'envelope', version: '1.0.0' })
  router.tool('count', {}, (params) => {
    calls.push(params)
    return 'counted'
  })
  return { router, calls }
}

describeMatrix('ids', {}, (setup, cell) => {
  verifies(['field.B1', 'ids.echo'], 'come back as they went, in value and type', async () => {
    const client = await setup(counting().router)
    for (const id of [0, '0', '', -5, 'req-é', 9007199254740991, '__proto__', 'a"b\\c\u2028']) {
      await client.requestAs(id, { method: 'tools/list' })
      expect(setup.wire.received.at(-1)?.['id']).toBe(id)
      await expect(client.requestAs(id, { method: 'no/such' })).rejects.toMatchObject({ code: -32601 })
      expect(setup.wire.received.at(-1)?.['id']).toBe(id)
    }
  })

  verifies(
    ['field.B1', 'ids.refused', 'errors.unread-id'],
    'that are neither text nor integer are refused',
    async () => {
      const { router, calls } = counting()
      const client = await setup(router)
      const before = setup.wire.statuses.length
      for (const id of [null, 1.5, true, {}, [1], 9007199254740992]) {
        const message = request(cell, id, { method: 'tools/call', params: { name: 'count' } })
        const answer = await setup.wire.ask(message)
        expect(codeOf(answer)).toBe(-32600)
        expect(answer['id']).toBe(cell.sessions ? null : undefined)
        expect(Object.hasOwn(answer, 'id')).toBe(cell.sessions)
      }
      expect(setup.wire.statuses.slice(before)).toEqual(cell.http ? [400, 400, 400, 400, 400, 400] : [])
      expect(calls).toEqual([])
      expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
    },
  )

  verifies('ids.in-flight', 'in use: refused where one sender has one set of ids', async () => {
    const { promise, open } = gate()
    const started = gate()
    const router = createRouter({ name: 'flight', version: '1.0.0' })
    router.tool('wait', {}, async () => {
      started.open()
      await promise
      return 'done'
    })
    const client = await setup(router)
    // Where the second is refused, the client takes that for the answer to this one.
    const first = client.requestAs('same', { method: 'tools/call', params: { name: 'wait' } }).catch(() => undefined)
    await started.promise
    const second = setup.wire.ask(request(cell, 'same', { method: 'tools/list' }))
    if (cell.http && !cell.sessions) expect((await second)['result']).toMatchObject({ tools: [{ name: 'wait' }] })
    else expect(codeOf(await second)).toBe(-32600)
    open()
    await expect(setup.wire.next(({ result }) => JSON.stringify(result ?? '').includes('done'))).resolves.toMatchObject(
      { id: 'same' },
    )
    await first
  })

  verifies('ids.reuse', 'that are answered can be used again', async () => {
    const client = await setup(counting().router)
    await client.requestAs(7, { method: 'tools/list' })
    await client.requestAs(7, { method: 'tools/list' })
    await expect(client.requestAs(7, { method: 'tools/call', params: { name: 'none' } })).rejects.toMatchObject({
      code: -32602,
    })
    expect(await client.requestAs(7, { method: 'tools/call', params: { name: 'count' } })).toMatchObject({
      content: [{ text: 'counted' }],
    })
  })

  verifies('rpc.interleaved', 'answers come as they are ready, each under its id', async () => {
    const slow = gate()
    const router = createRouter({ name: 'order', version: '1.0.0' })
    router.tool('slow', {}, async () => {
      await slow.promise
      return 'slow'
    })
    router.tool('fast', {}, () => 'fast')
    const client = await setup(router)
    const late = client.requestAs('a', { method: 'tools/call', params: { name: 'slow' } })
    const early = await client.requestAs('b', { method: 'tools/call', params: { name: 'fast' } })
    expect(early).toMatchObject({ content: [{ text: 'fast' }] })
    slow.open()
    expect(await late).toMatchObject({ content: [{ text: 'slow' }] })
  })
})

describeMatrix('messages', {}, (setup, cell) => {
  verifies('rpc.params', 'with parameters that are no object are malformed', async () => {
    const { router, calls } = counting()
    const client = await setup(router)
    for (const params of ['count', ['count'], 5, null, false]) {
      const answer = await setup.wire.ask({ jsonrpc: '2.0', id: 'p', method: 'tools/call', params })
      expect(answer).toMatchObject({ id: 'p', error: { code: -32602 } })
    }
    expect(calls).toEqual([])
    expect(await client.callTool('count')).toMatchObject({ content: [{ text: 'counted' }] })
  })

  verifies(['rpc.not-a-request', 'errors.form'], 'that are no requests are refused', async () => {
    const client = await setup(counting().router)
    const good = request(cell, 4, { method: 'tools/list' })
    const wrong: Record<string, unknown>[] = [
      { ...good, jsonrpc: '1.0' },
      { ...good, jsonrpc: 2 },
      { ...good, jsonrpc: undefined },
      { ...good, method: 5 },
      { ...good, method: null },
      { jsonrpc: '2.0', id: 4 },
      { jsonrpc: '2.0', id: 4, params: {} },
      { jsonrpc: '2.0', id: 4, result: {}, error: { code: 1, message: 'both' } },
    ]
    for (const message of wrong) {
      const { error, id } = await setup.wire.ask(message)
      expect(error, JSON.stringify(message)).toMatchObject({ code: -32600, message: expect.any(String) })
      expect([4, null, undefined]).toContain(id)
    }
    for (const text of ['"text"', '5', 'true', 'null', '{}']) {
      const count = setup.wire.received.length
      await setup.wire.sendText(text)
      await expect.poll(() => setup.wire.received.length, PATIENT).toBe(count + 1)
      const { error, ...rest } = setup.wire.received.at(-1) ?? {}
      expect(error, text).toMatchObject({ code: -32600 })
      if (!cell.http) expect(rest).toEqual(cell.sessions ? { jsonrpc: '2.0', id: null } : { jsonrpc: '2.0' })
    }
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })

  verifies('rpc.unknown-method', 'of unknown methods are -32601', async () => {
    const client = await setup(counting().router)
    const before = setup.wire.statuses.length
    const methods = ['no/such', '', 'Tools/List', 'tools/list ', 'rpc.discover', ...NAMES]
    for (const method of methods) {
      await expect(client.request(method), method).rejects.toMatchObject({ code: -32601 })
    }
    const status = cell.sessions ? 200 : 404
    expect(setup.wire.statuses.slice(before)).toEqual(cell.http ? methods.map(() => status) : [])
  })

  verifies('rpc.unknown-members', 'may have members that nobody knows', async () => {
    const client = await setup(counting().router)
    const message = request(cell, 'x', {
      method: 'tools/call',
      params: { name: 'count', colour: 'red', task: { ttl: 5 } },
    })
    expect(await setup.wire.ask({ ...message, extra: { deep: [1] } })).toMatchObject({
      id: 'x',
      result: { content: [{ text: 'counted' }] },
    })
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })

  verifies(['rpc.notifications', 'rpc.no-answer'], 'without an id are never answered and run nothing', async () => {
    const { router, calls } = counting()
    const client = await setup(router)
    const count = setup.wire.received.length
    const before = setup.wire.statuses.length
    const meta = cell.sessions ? {} : { _meta: META }
    await client.notify('notifications/unknown', meta)
    await client.notify('tools/call', { name: 'count', ...meta })
    await client.notify('no/such', meta)
    await client.notify('notifications/initialized', meta)
    await client.list('tools')
    expect(setup.wire.received.length).toBe(count + 1)
    expect(calls).toEqual([])
    expect(setup.wire.statuses.slice(before)).toEqual(cell.http ? [202, 202, 202, 202, 200] : [])
  })

  verifies('errors.form', 'that fail have a code and a sentence, and nothing beside', async () => {
    const client = await setup(counting().router)
    await Promise.allSettled([client.request('no/such'), client.callTool('none'), client.readResource('x://none')])
    const errors = setup.wire.received.filter((message) => Object.hasOwn(message, 'error'))
    expect(errors).toHaveLength(3)
    for (const message of errors) {
      expect(Object.keys(message).sort()).toEqual(['error', 'id', 'jsonrpc'])
      const { code, message: text } = message['error'] as { code: unknown; message: unknown }
      expect(Number.isInteger(code)).toBe(true)
      expect(text).toMatch(/\S/)
    }
  })
})

describeMatrix('text that is not JSON', { transports: ['node', 'fetch', 'stdio'] }, (setup, cell) => {
  verifies(['rpc.parse-error', 'errors.unread-id'], 'is a parse error, and the next request works', async () => {
    const client = await setup(counting().router)
    for (const text of ['{"jsonrpc":"2.0","id":70,"method":', '{]', "{'jsonrpc':'2.0'}", 'hello']) {
      const count = setup.wire.received.length
      await setup.wire.sendText(text)
      await expect.poll(() => setup.wire.received.length, PATIENT).toBe(count + 1)
      const answer = setup.wire.received.at(-1)
      expect(codeOf(answer ?? {})).toBe(-32700)
      expect(answer?.['id']).toBe(cell.sessions ? null : undefined)
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(400)
    }
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })
})

describeMatrix('a posted response', {}, (setup, cell) => {
  verifies('rpc.response', 'that answers nothing is harmless', async () => {
    const client = await setup(counting().router)
    const count = setup.wire.received.length
    const stateless = cell.http && !cell.sessions
    for (const message of [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 'x', error: { code: -1, message: 'no' } },
    ]) {
      await client.sendRaw(message)
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(stateless ? 400 : 202)
    }
    const answers = setup.wire.received.slice(count)
    expect(answers.map(codeOf)).toEqual(stateless ? [-32600, -32600] : [])
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })
})

describeMatrix('names of Object.prototype', {}, (setup, cell) => {
  verifies('hostile.names', 'are no tools, prompts, resources or completions', async () => {
    const { router } = counting()
    router.prompt('review', { arguments: { repo: { complete: () => ['a'] } } }, () => 'Review.')
    router.resource('notes://plain', { name: 'plain' }, () => 'plain')
    const client = await setup(router)
    for (const name of NAMES) {
      await expect(client.callTool(name), name).rejects.toMatchObject({ code: -32602 })
      await expect(client.getPrompt(name), name).rejects.toMatchObject({ code: -32602 })
      await expect(client.readResource(name), name).rejects.toMatchObject({ code: cell.sessions ? -32002 : -32602 })
      await expect(client.complete({ prompt: name }, { name: 'repo', value: '' }), name).rejects.toMatchObject({
        code: -32602,
      })
      const unknown = await client.complete({ prompt: 'review' }, { name, value: '' }).then(
        ({ completion }) => completion.values,
        (error: { code: number }) => error.code,
      )
      expect([[], -32602], name).toContainEqual(unknown)
    }
  })

  verifies('hostile.names', 'can be names of tools and prompts', async () => {
    const router = createRouter({ name: 'names', version: '1.0.0' })
    for (const name of NAMES) {
      router.tool(name, {}, () => `tool ${name}`)
      router.prompt(name, {}, () => `prompt ${name}`)
    }
    const client = await setup(router)
    expect(((await client.list('tools'))['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(NAMES)
    for (const name of NAMES) {
      expect(await client.callTool(name)).toMatchObject({ content: [{ text: `tool ${name}` }] })
      expect(await client.getPrompt(name)).toMatchObject({ messages: [{ content: { text: `prompt ${name}` } }] })
    }
  })

  verifies('hostile.names', 'can be names of arguments, and are missing unless they were sent', async () => {
    const seen: unknown[] = []
    const names = ['constructor', 'toString', 'valueOf']
    const router = createRouter({ name: 'arguments', version: '1.0.0' })
    router.tool(
      'take',
      { input: { constructor: field.string(), toString: field.string(), valueOf: field.string({ required: true }) } },
      (params) => {
        seen.push(names.map((name) => (Object.hasOwn(params, name) ? Reflect.get(params, name) : 'missing')))
        return 'ok'
      },
    )
    router.prompt('fill', { arguments: { constructor: {}, toString: { required: true } } }, (params) => {
      seen.push(
        ['constructor', 'toString'].map((name) =>
          Object.hasOwn(params, name) ? Reflect.get(params, name) : 'missing',
        ),
      )
      return 'ok'
    })
    const client = await setup(router)
    await client.callTool('take', { valueOf: 'v' })
    await client.callTool('take', { constructor: 'c', toString: 't', valueOf: 'v' })
    await client.getPrompt('fill', { toString: 't' } as unknown as Record<string, string>)
    expect(seen).toEqual([
      ['missing', 'missing', 'v'],
      ['c', 't', 'v'],
      ['missing', 't'],
    ])
    await expect(client.getPrompt('fill', {})).rejects.toMatchObject({ code: -32602 })
    const failed = client.callTool('take', {})
    if (cell.version >= '2025-11-25') expect(await failed).toMatchObject({ isError: true })
    else await expect(failed).rejects.toMatchObject({ code: -32602 })
  })

  verifies('hostile.names', 'as keys of a message change nothing', async () => {
    const { router } = counting()
    router.tool('own', { inputSchema: { type: 'object' } }, (params) => Object.getOwnPropertyNames(params).join())
    const client = await setup(router)
    await client.list('tools')
    const params = '"name":"own","arguments":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'
    const answer = setup.wire.next(({ id }) => id === 77)
    await setup.wire.sendText(requestText(cell, 77, { method: 'tools/call', params }))
    expect(await answer).toMatchObject({ result: { content: [{ text: '__proto__,constructor' }] } })
    const meta = '"__proto__":{"method":"ping","admin":true},"cursor":"__proto__"'
    const second = setup.wire.next(({ id }) => id === 78)
    await setup.wire.sendText(requestText(cell, 78, { method: 'tools/list', params: meta }))
    expect(codeOf(await second)).toBe(-32602)
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})

describeMatrix('deep nesting', { transports: ['node', 'fetch', 'stdio'] }, (setup, cell) => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  verifies('field.P1', 'is refused with the request’s id, wherever it stands', async () => {
    const { router, calls } = counting()
    router.tool('opts', { input: { tag: field.schema({ jsonSchema: {} }) } }, () => 'ran')
    const client = await setup(router)
    let id = 100
    for (const levels of [20_000, 100_000]) {
      const places = [
        `"name":"opts","arguments":{"tag":${nested(levels)}}`,
        `"name":"opts","inputResponses":${nested(levels)}`,
        `"name":"opts","unknown":${nested(levels)}`,
      ]
      for (const params of places) {
        id++
        const answer = setup.wire.next((message) => message['id'] === id)
        await setup.wire.sendText(requestText(cell, id, { method: 'tools/call', params }))
        const { error } = await answer
        expect([-32600, -32602, -32700]).toContain((error as { code: number }).code)
      }
      id++
      const answer = setup.wire.next((message) => message['id'] === id)
      const text = requestText(cell, id, { method: 'tools/list', params: '"cursor":"x"' })
      await setup.wire.sendText(`${text.slice(0, -1)},"extra":${nested(levels)}}`)
      expect(Object.hasOwn(await answer, 'error')).toBe(true)
    }
    expect(calls).toEqual([])
    expect(await client.callTool('count')).toMatchObject({ content: [{ text: 'counted' }] })
  })

  verifies('field.P1', 'in _meta is refused as well', async () => {
    const client = await setup(counting().router)
    const own = cell.sessions ? '' : `${JSON.stringify(META).slice(1, -1)},`
    for (const [id, levels] of [20_000, 100_000].entries()) {
      const answer = setup.wire.next((message) => message['id'] === id + 500)
      const params = `{"name":"count","_meta":{${own}"x":${nested(levels)}}}`
      await setup.wire.sendText(`{"jsonrpc":"2.0","id":${id + 500},"method":"tools/call","params":${params}}`)
      expect(Object.hasOwn(await answer, 'error')).toBe(true)
    }
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })

  verifies('field.P1', 'that is not deep is served', async () => {
    const router = createRouter({ name: 'deep', version: '1.0.0' })
    router.tool('opts', { inputSchema: { type: 'object' } }, () => 'ran')
    const client = await setup(router)
    const answer = setup.wire.next(({ id }) => id === 600)
    const params = `"name":"opts","arguments":{"tag":${nested(150)},"text":"${'[{'.repeat(500)}"}`
    await setup.wire.sendText(requestText(cell, 600, { method: 'tools/call', params }))
    expect(await answer).toMatchObject({ result: { content: [{ text: 'ran' }] } })
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'opts' }] })
  })
})

describeMatrix('deep nesting in memory', { transports: ['memory'] }, (setup) => {
  verifies('field.P1', 'is refused', async () => {
    const { router, calls } = counting()
    const client = await setup(router)
    let tag: unknown = 'leaf'
    for (let level = 0; level < 1000; level++) tag = [tag]
    await expect(client.callTool('count', { tag })).rejects.toMatchObject({ code: expect.any(Number) })
    expect(calls).toEqual([])
    expect(await client.callTool('count')).toMatchObject({ content: [{ text: 'counted' }] })
  })
})

describeMatrix('batches', { versions: ['2025-03-26'] }, (setup, cell) => {
  verifies('field.B3', 'of 2025-03-26 are answered together', async () => {
    const { router, calls } = counting()
    await setup(router)
    const count = setup.wire.received.length
    const before = setup.wire.statuses.length
    const batch = [
      request(cell, 1, { method: 'ping' }),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      request(cell, 'two', { method: 'tools/call', params: { name: 'count' } }),
      request(cell, 3, { method: 'no/such' }),
      { jsonrpc: '2.0', id: null, method: 'ping' },
      'text',
      request(cell, 5, {
        method: 'initialize',
        params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'c', version: '0' } },
      }),
    ]
    await setup.wire.sendText(JSON.stringify(batch))
    await expect.poll(() => setup.wire.received.length, PATIENT).toBe(count + 6)
    const answers = setup.wire.received.slice(count)
    expect(answers.map(({ id }) => id)).toEqual([1, 'two', 3, null, null, 5])
    expect(answers.map(codeOf)).toEqual([undefined, undefined, -32601, -32600, -32600, -32600])
    expect(calls).toHaveLength(1)
    expect(setup.wire.statuses.slice(before)).toEqual(cell.http ? [200] : [])
  })

  verifies('field.B3', 'of notifications alone have no answer', async () => {
    const client = await setup(counting().router)
    const count = setup.wire.received.length
    const note = { jsonrpc: '2.0', method: 'notifications/unknown' }
    await setup.wire.sendText(JSON.stringify([note, note, { jsonrpc: '2.0', id: 1, result: {} }]))
    await client.list('tools')
    expect(setup.wire.received.length).toBe(count + 1)
    if (cell.http) expect(setup.wire.statuses.at(-2)).toBe(202)
  })

  verifies('field.B3', 'with a call that reports progress have it before the answers', async () => {
    const router = createRouter({ name: 'progress', version: '1.0.0' })
    router.tool('steps', {}, async (_params, session) => {
      await session.notifyProgress(1, 2)
      return 'done'
    })
    await setup(router)
    const params = { name: 'steps', _meta: { progressToken: 'p' } }
    await setup.wire.sendText(
      JSON.stringify([request(cell, 1, { method: 'tools/call', params }), request(cell, 2, { method: 'ping' })]),
    )
    await setup.wire.next(({ id }) => id === 2)
    const tail = setup.wire.received.slice(-3)
    expect(tail.map(({ id, method }) => method ?? id)).toEqual(['notifications/progress', 1, 2])
  })

  verifies('field.B3', 'beyond their size are refused whole', async () => {
    const { router, calls } = counting()
    const client = await setup(router)
    const batch = Array.from({ length: 5000 }, (_, id) =>
      request(cell, id, { method: 'tools/call', params: { name: 'count' } }),
    )
    const count = setup.wire.received.length
    await setup.wire.sendText(JSON.stringify(batch))
    await expect.poll(() => setup.wire.received.length, PATIENT).toBe(count + 1)
    expect(codeOf(setup.wire.received.at(-1) ?? {})).toBe(-32600)
    expect(calls).toEqual([])
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })
})

describeMatrix('batches elsewhere', {}, (setup, cell) => {
  verifies('field.B3', 'are one error, and nothing of them runs', async () => {
    const { router, calls } = counting()
    const client = await setup(router)
    const call = request(cell, 1, { method: 'tools/call', params: { name: 'count' } })
    const batches =
      cell.version === '2025-03-26' ? [[]] : [[], [call], [call, request(cell, 2, { method: 'tools/list' })]]
    for (const batch of batches) {
      const count = setup.wire.received.length
      await setup.wire.sendText(JSON.stringify(batch))
      await expect.poll(() => setup.wire.received.length, PATIENT).toBe(count + 1)
      const answer = setup.wire.received.at(-1) ?? {}
      expect(codeOf(answer)).toBe(-32600)
      expect(answer['id']).toBe(cell.sessions ? null : undefined)
      if (cell.http) expect(setup.wire.statuses.at(-1)).toBe(400)
    }
    expect(calls).toEqual([])
    expect(await client.list('tools')).toMatchObject({ tools: [{ name: 'count' }] })
  })
})

describeMatrix('sessions', { versions: SESSION_VERSIONS }, (setup) => {
  verifies('errors.legacy-numbers', 'never see the codes of 2026-07-28', async () => {
    const client = await setup(counting().router)
    await Promise.allSettled([
      client.request('no/such'),
      client.callTool('none'),
      client.readResource('x://none'),
      client.list('tools', 'bm9uZQ=='),
      client.request('logging/setLevel', { level: 'loud' }),
    ])
    const codes = setup.wire.received.map(codeOf).filter((code) => code !== undefined)
    expect(codes.sort()).toEqual([-32002, -32601, -32602, -32602, -32602])
  })
})
