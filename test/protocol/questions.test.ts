import { type CreateMessageParams, Elicit, field, type Question, Roots, Sample } from 'phantom-mcp'
import { describe, expect, test } from 'vitest'
import { codecOf } from '../../src/protocol/codecs.js'
import { checkOf } from '../_schema.js'
import type { Version } from '../_setup.js'

// What each version makes of a question, held against the version's schema with nothing added to it.

const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
const ENVELOPE: Readonly<Partial<Record<Version, object>>> = { '2025-11-25': { jsonrpc: '2.0', id: 1 } }
const TYPES = {
  'elicitation/create': 'ElicitRequest',
  'sampling/createMessage': 'CreateMessageRequest',
  'roots/list': 'ListRootsRequest',
} as const

function encode({ method, params }: Question<never> | Question<unknown>, version: Version) {
  const encoded = codecOf(version).encodeQuestion(method, params, 'e-1')
  if (encoded !== undefined) {
    const check = checkOf(version, { closed: true })
    expect(check(TYPES[method], { ...ENVELOPE[version], method, params: encoded })).toBeUndefined()
  }
  return encoded
}

const scalars = {
  name: field.string({ required: true, title: 'Name', description: 'In full', minLength: 1 }),
  mail: field.string({ format: 'email', default: 'a@example.com' }),
  age: field.integer({ minimum: 0, maximum: 150, default: 30 }),
  score: field.number({ default: 95.5 }),
  sure: field.boolean({ default: true }),
  status: field.string({ in: ['on', 'off'], default: 'on' }),
  delete: field.string({ in: ['yes', 'no'], titles: { yes: 'Yes, delete it' }, title: 'Delete?' }),
}
const form = Elicit.form({ message: 'Please', fields: scalars })

describe('a form', () => {
  test.each(['2024-11-05', '2025-03-26'] as const)('is not to be asked in %s', (version) => {
    expect(encode(form, version)).toBeUndefined()
  })

  test('is told in 2025-06-18 without its mode, with names beside choices, and with defaults of booleans', () => {
    expect(encode(form, '2025-06-18')).toStrictEqual({
      message: 'Please',
      requestedSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: 'Name', description: 'In full', minLength: 1 },
          mail: { type: 'string', format: 'email' },
          age: { type: 'integer', minimum: 0, maximum: 150 },
          score: { type: 'number' },
          sure: { type: 'boolean', default: true },
          status: { type: 'string', enum: ['on', 'off'] },
          delete: { type: 'string', title: 'Delete?', enum: ['yes', 'no'], enumNames: ['Yes, delete it', 'no'] },
        },
        required: ['name'],
      },
    })
  })

  test.each(['2025-11-25', '2026-07-28'] as const)('is told whole in %s', (version) => {
    const fields = {
      ...scalars,
      tags: field.array(field.string({ in: ['a', 'b'] }), { minLength: 1, maxLength: 2, default: ['a'] }),
      colours: field.array(field.string({ in: ['r', 'g'], titles: { r: 'Red' } })),
    }
    const rich = Elicit.form({ message: 'Please', fields })
    expect(encode(rich, version)).toStrictEqual(rich.params)
    const legacy = { type: 'string', enum: ['a'], enumNames: ['A'], default: 'a' }
    const requestedSchema = { type: 'object', properties: { legacy } }
    expect(encode(Elicit.form({ message: 'Please', requestedSchema }), version)).toStrictEqual({
      mode: 'form',
      message: 'Please',
      requestedSchema,
    })
  })

  test('with a list of choices is not to be asked in 2025-06-18', () => {
    const fields = { tags: field.array(field.string({ in: ['a', 'b'] })) }
    expect(encode(Elicit.form({ message: 'Please', fields }), '2025-06-18')).toBeUndefined()
  })

  test('with names in the form that came first keeps them in 2025-06-18', () => {
    const legacy = { type: 'string', enum: ['a'], enumNames: ['A'] }
    const requestedSchema = { type: 'object', properties: { legacy } }
    expect(encode(Elicit.form({ message: 'Please', requestedSchema }), '2025-06-18')).toStrictEqual({
      message: 'Please',
      requestedSchema,
    })
  })
})

test('a URL has an id in 2025-11-25 alone, and is not to be asked before', () => {
  const question = Elicit.url('https://example.com/connect', 'Connect')
  const told = { mode: 'url', message: 'Connect', url: 'https://example.com/connect' }
  expect(VERSIONS.map((version) => encode(question, version))).toStrictEqual([
    undefined,
    undefined,
    undefined,
    { ...told, elicitationId: 'e-1' },
    told,
  ])
})

test('roots are asked for in every version', () => {
  expect(VERSIONS.map((version) => encode(Roots.list(), version))).toStrictEqual([{}, {}, {}, {}, {}])
})

describe('sampling', () => {
  const text = { type: 'text', text: 'Hi', annotations: { priority: 1, lastModified: '2026-01-01T00:00:00Z' } } as const
  const rest = {
    maxTokens: 100,
    systemPrompt: 'Be brief.',
    modelPreferences: { hints: [{ name: 'small' }], costPriority: 1 },
    includeContext: 'none',
    temperature: 0.5,
    stopSequences: ['.'],
    metadata: { a: 1 },
  } as const
  const sample = (params: Partial<CreateMessageParams>) => Sample.message({ messages: [], ...rest, ...params })

  test('is told in the words of each version', () => {
    const question = sample({
      messages: [
        { role: 'user', content: [text] },
        { role: 'assistant', content: text },
      ],
    })
    const plain = { type: 'text', text: 'Hi', annotations: { priority: 1 } }
    const before = {
      ...rest,
      messages: [
        { role: 'user', content: plain },
        { role: 'assistant', content: plain },
      ],
    }
    const since = {
      ...rest,
      messages: [
        { role: 'user', content: text },
        { role: 'assistant', content: text },
      ],
    }
    expect(VERSIONS.map((version) => encode(question, version))).toStrictEqual([
      before,
      before,
      since,
      question.params,
      question.params,
    ])
  })

  test('has tools from 2025-11-25 on', () => {
    const tool = { name: 'weather', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } }
    const question = sample({
      messages: [{ role: 'user', content: text }],
      tools: [tool],
      toolChoice: { mode: 'auto' },
    })
    const messages = [{ role: 'user', content: text }]
    expect(encode(question, '2025-06-18')).toStrictEqual({ ...rest, messages })
    const { outputSchema: _later, ...known } = tool
    expect(encode(question, '2025-11-25')).toStrictEqual({
      ...rest,
      messages,
      tools: [known],
      toolChoice: { mode: 'auto' },
    })
    expect(encode(question, '2026-07-28')).toStrictEqual(question.params)
  })

  test('cannot be asked where its content has no place', () => {
    const several = sample({ messages: [{ role: 'user', content: [text, text] }] })
    const turn = sample({
      messages: [
        { role: 'assistant', content: { type: 'tool_use', id: '1', name: 'weather', input: {} } },
        { role: 'user', content: { type: 'tool_result', toolUseId: '1', content: [text], structuredContent: [1] } },
      ],
    })
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18'] as const) {
      expect(encode(several, version)).toBeUndefined()
      expect(encode(turn, version)).toBeUndefined()
    }
    expect(encode(several, '2025-11-25')).toStrictEqual(several.params)
    // Structured content is an object there; what it says stands in the content, too.
    expect(encode(turn, '2025-11-25')?.['messages']).toMatchObject([
      {},
      { content: { toolUseId: '1', content: [text] } },
    ])
    expect(JSON.stringify(encode(turn, '2025-11-25'))).not.toContain('structuredContent')
    expect(encode(turn, '2026-07-28')).toStrictEqual(turn.params)
  })

  test('tells sounds as text where they have no place', () => {
    const question = sample({
      messages: [{ role: 'user', content: { type: 'audio', data: 'AQID', mimeType: 'audio/wav' } }],
    })
    expect(encode(question, '2024-11-05')?.['messages']).toStrictEqual([
      { role: 'user', content: { type: 'text', text: '[audio, audio/wav, 3 bytes]' } },
    ])
    expect(encode(question, '2025-03-26')).toStrictEqual(question.params)
  })
})
