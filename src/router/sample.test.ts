import { describe, expect, test } from 'vitest'
import type { CreateMessageParams, SamplingContent, SamplingMessage } from '../protocol/sampling.js'
import { isQuestion } from './question.js'
import { Roots } from './roots.js'
import { Sample } from './sample.js'

const text = (content: string) => ({ type: 'text', text: content }) as const
const use = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: { city: 'Paris' } }) as const
const result = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [text('18 °C')] }) as const
const user = (...content: SamplingContent[]): SamplingMessage => ({ role: 'user', content })
const assistant = (...content: SamplingContent[]): SamplingMessage => ({ role: 'assistant', content })
const HI: SamplingMessage = { role: 'user', content: text('Hi') }
const TOOLS = [{ name: 'weather', inputSchema: { type: 'object' } }]
const ask = (params: Partial<CreateMessageParams> = {}) => Sample.message({ messages: [HI], maxTokens: 100, ...params })
const SAID = { role: 'assistant', content: text('Hello'), model: 'm-1' } as const
const accept = (content: unknown) => ({ action: 'accept', content })

describe('Sample.message', () => {
  test('is a question with the parameters as they were given', () => {
    const params: CreateMessageParams = {
      messages: [
        HI,
        assistant(text('Yes?')),
        user(text('Go on'), { type: 'image', data: 'AQID', mimeType: 'image/png' }),
      ],
      maxTokens: 100,
      systemPrompt: 'Be brief.',
      modelPreferences: { hints: [{ name: 'small' }], costPriority: 1, speedPriority: 0, intelligencePriority: 0.5 },
      includeContext: 'none',
      temperature: 0.2,
      stopSequences: ['.'],
      metadata: { a: { b: 1 } },
    }
    const question = Sample.message(params)
    expect(isQuestion(question)).toBe(true)
    expect(question.method).toBe('sampling/createMessage')
    expect(question.params).toStrictEqual(params)
    expect(question.params).not.toBe(params)
    expect(question.requires).toEqual({ sampling: {} })
    expect(question.fingerprint).toBe('sampling/createMessage')
  })

  test('says what the client needs for it', () => {
    expect(ask({ tools: TOOLS }).requires).toEqual({ sampling: { tools: {} } })
    expect(ask({ includeContext: 'thisServer' }).requires).toEqual({ sampling: { context: {} } })
    expect(ask({ tools: TOOLS, toolChoice: { mode: 'required' } }).fingerprint).toBe('sampling/createMessage tools')
    expect(ask({ tools: TOOLS, toolChoice: { mode: 'none' } }).fingerprint).toBe('sampling/createMessage')
    expect(ask({ includeContext: 'none' }).requires).toEqual({ sampling: {} })
  })

  test('reads what the model said', () => {
    expect(ask().read({ ...SAID, stopReason: 'endTurn', _meta: {}, more: 1 })).toStrictEqual(
      accept({ ...SAID, stopReason: 'endTurn' }),
    )
    const several = [text('a'), { type: 'audio', data: 'AQID', mimeType: 'audio/wav' }]
    expect(ask().read({ ...SAID, content: several })).toStrictEqual(accept({ ...SAID, content: several }))
    expect(ask({ tools: TOOLS }).read({ ...SAID, content: [use('1')] })).toStrictEqual(
      accept({ ...SAID, content: [use('1')] }),
    )
  })

  test.each([
    undefined,
    null,
    'Hello',
    [],
    {},
    { action: 'decline' },
    { ...SAID, role: 'system' },
    { ...SAID, model: undefined },
    { ...SAID, model: 7 },
    { ...SAID, stopReason: 7 },
    { ...SAID, content: undefined },
    { ...SAID, content: null },
    { ...SAID, content: 'Hello' },
    { ...SAID, content: [[text('a')]] },
    { ...SAID, content: { type: 'text' } },
    { ...SAID, content: { type: 'text', text: 7 } },
    { ...SAID, content: { type: 'video', data: 'AQID' } },
    { ...SAID, content: { type: 'toString' } },
    { ...SAID, content: { type: 'image', data: 'no!', mimeType: 'image/png' } },
    { ...SAID, content: { type: 'image', data: 'AQID' } },
    { ...SAID, content: use('1') },
    { ...SAID, content: result('1') },
    { ...SAID, content: { type: 'resource_link', uri: 'a:b', name: 'b' } },
    JSON.parse('{"__proto__":{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}}'),
  ])('%j does not fit', (response) => {
    expect(ask().read(response)).toBeUndefined()
  })

  test('an answer that is large or deep is read or left', () => {
    let deep: unknown = 1
    for (let depth = 0; depth < 100_000; depth++) deep = { deep }
    expect(ask().read({ ...SAID, content: deep })).toBeUndefined()
    expect(ask({ tools: TOOLS }).read({ ...SAID, content: { ...use('1'), input: deep } })).toMatchObject({
      action: 'accept',
    })
    const large = { type: 'image', data: 'A'.repeat(20_000_000), mimeType: 'image/png' }
    expect(ask().read({ ...SAID, content: large })).toMatchObject({ action: 'accept' })
  })

  test('tool calls that are answered in turn', () => {
    const messages = [
      HI,
      assistant(text('I look'), use('1'), use('2')),
      user(result('2'), result('1')),
      assistant(text('18')),
    ]
    expect(ask({ messages, tools: TOOLS }).params['messages']).toStrictEqual(messages)
  })

  test.each<[string, Partial<CreateMessageParams> | object, string]>([
    ['no messages', { messages: [] }, 'messages must have at least 1 item'],
    ['no number of tokens', { maxTokens: undefined }, 'maxTokens is required'],
    ['half a token', { maxTokens: 0.5 }, 'maxTokens must be an integer'],
    [
      'a role',
      { messages: [{ role: 'system', content: text('a') }] },
      'messages[0].role must be one of "user", "assistant"',
    ],
    ['a priority', { modelPreferences: { costPriority: 2 } }, 'modelPreferences.costPriority must be at most 1'],
    ['an option', { maxToken: 1 }, "Sample.message: unknown option 'maxToken'"],
    ['a temperature', { temperature: '1' }, 'temperature must be a number'],
    ['a context', { includeContext: 'all' }, 'includeContext must be one of "none", "thisServer", "allServers"'],
    ['no tools', { tools: [] }, 'tools must have at least 1 item'],
    ['a tool without a schema', { tools: [{ name: 'a' }] }, 'tools[0].inputSchema is required'],
    [
      'a choice of nothing',
      { toolChoice: { mode: 'auto' } },
      "'toolChoice' needs 'tools' to choose from. Give them, or leave it out.",
    ],
    ['what is not JSON', { metadata: { a: 1n } }, 'the parameters hold something that is not JSON.'],
    ['no content', { messages: [user()] }, 'messages[0] has no content. Give it a block.'],
    [
      'a string',
      { messages: [{ role: 'user', content: 'Hi' }] },
      'messages[0] has content that must be an object with a type.',
    ],
    [
      'a block',
      { messages: [user({ type: 'text' } as never)] },
      'messages[0] has content that is no text block: text is required.',
    ],
    [
      'a block in a result',
      { messages: [HI, assistant(use('1')), user({ ...result('1'), content: [use('2') as never] })] },
      'messages[2] has content that has a block in its content that must have a type that is one of text, image',
    ],
    ['a call of the user', { messages: [user(use('1'))] }, 'messages[0] has a tool_use of the user.'],
    [
      'a result of the assistant',
      { messages: [assistant(result('1'))] },
      'messages[0] has a tool_result of the assistant.',
    ],
    ['a stray result', { messages: [user(result('1'))] }, "messages[0] has a tool_result '1' that answers no call"],
    [
      'a result twice',
      { messages: [assistant(use('1')), user(result('1'), result('1'))] },
      "messages[1] has a tool_result '1' that answers no call of the message before it, or answers it twice.",
    ],
    [
      'results among others',
      { messages: [assistant(use('1')), user(result('1'), text('and'))] },
      'messages[1] mixes tool results with other content. Put that into a message of its own.',
    ],
    [
      'a call without a result',
      { messages: [assistant(use('1'), use('2')), user(result('1'))] },
      "messages[1] leaves the tool_use '2' without a tool_result. Answer every call in the next message.",
    ],
    [
      'something said in between',
      { messages: [assistant(use('1')), HI, user(result('1'))] },
      "messages[1] leaves the tool_use '1'",
    ],
    ['a call at the end', { messages: [HI, assistant(use('1'))] }, 'the last message calls tools. Add a user message'],
    ['two calls of one id', { messages: [assistant(use('1'), use('1'))] }, 'messages[0] calls two tools under one id.'],
  ])('%s is refused', (_name, params, message) => {
    expect(() => ask(params)).toThrow(TypeError)
    expect(() => ask(params)).toThrow(message)
  })
})

describe('Roots.list', () => {
  const question = Roots.list()

  test('is a question without parameters', () => {
    expect(isQuestion(question)).toBe(true)
    expect(question).toMatchObject({
      method: 'roots/list',
      params: {},
      requires: { roots: {} },
      fingerprint: 'roots/list',
    })
  })

  test('reads the roots', () => {
    const roots = [{ uri: 'file:///home/ada', name: 'Home', _meta: { a: 1 } }, { uri: 'FILE:///C:/work' }]
    expect(question.read({ roots, _meta: {} })).toStrictEqual(
      accept([{ uri: 'file:///home/ada', name: 'Home' }, { uri: 'FILE:///C:/work' }]),
    )
    expect(question.read({ roots: [] })).toStrictEqual(accept([]))
  })

  test.each([
    undefined,
    [],
    {},
    { roots: null },
    { roots: { 0: { uri: 'file:///a' } } },
    { roots: ['file:///a'] },
    { roots: [{ name: 'a' }] },
    { roots: [{ uri: 'https://example.com' }] },
    { roots: [{ uri: 'file:a' }] },
    { roots: [{ uri: '/home/ada' }] },
    { roots: [{ uri: 'file://:::' }] },
    { roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 7 }] },
  ])('%j does not fit', (response) => {
    expect(question.read(response)).toBeUndefined()
  })
})
