import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { Elicit } from './elicit.js'
import { isRecord } from './json-value.js'
import { Roots } from './roots.js'
import { Sample } from './sample.js'

// Forms and answers at random, held against a JSON Schema validator that knows nothing of ours.

type Random = () => number
type Json = Readonly<Record<string, unknown>>

/** Mulberry32: small, and the same numbers for the same seed. */
function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function pickOne<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

const TEXTS = ['', 'a', 'b', 'yes', 'no', 'ünïcödé', '😀😀', 'constructor', 'x'.repeat(50)] as const

function randomMember(random: Random): Json {
  const low = Math.floor(random() * 4)
  const texts = [...new Set([pickOne(random, TEXTS), pickOne(random, TEXTS)])]
  const alternatives = texts.map((text) => ({ const: text, title: `Title of ${text}` }))
  return pickOne<() => Json>(random, [
    () => ({ type: 'string' }),
    () => ({ type: 'string', minLength: low, maxLength: low + 2, title: 'T' }),
    () => ({ type: 'string', enum: texts }),
    () => ({ type: 'string', oneOf: alternatives }),
    () => ({ type: 'string', enum: texts, enumNames: texts.map(() => 'N') }),
    () => ({ type: 'integer', minimum: -low, maximum: low }),
    () => ({ type: 'number', minimum: low - 0.5 }),
    () => ({ type: 'boolean' }),
    () => ({ type: 'array', items: { type: 'string', enum: texts }, minItems: low % 2, maxItems: 2 }),
    () => ({ type: 'array', items: { anyOf: alternatives } }),
  ])()
}

const KEYS = ['a', 'b', 'toString', 'hasOwnProperty', 'x-y'] as const

function randomForm(random: Random): Json {
  const properties = Object.fromEntries(
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => [pickOne(random, KEYS), randomMember(random)]),
  )
  return { type: 'object', properties, required: Object.keys(properties).filter(() => random() < 0.4) }
}

function randomValue(random: Random, depth = 0): unknown {
  return pickOne<() => unknown>(random, [
    () => pickOne(random, TEXTS),
    () => pickOne(random, TEXTS),
    () => pickOne(random, [0, 1, -1, 2.5, 1e300, -0, 3]),
    () => random() < 0.5,
    () => null,
    () => (depth > 3 ? [] : Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth + 1))),
    () => [pickOne(random, TEXTS), pickOne(random, TEXTS)],
    () => (depth > 3 ? {} : randomContent(random, depth + 1)),
  ])()
}

const GIVEN_KEYS = [...KEYS, ...KEYS, ...KEYS, '__proto__', 'valueOf', ''] as readonly [string, ...string[]]

/** Text first, so that `__proto__` is a member like any other. */
function randomContent(random: Random, depth = 0): unknown {
  const members = Array.from({ length: Math.floor(random() * 6) }, () => {
    return `${JSON.stringify(pickOne(random, GIVEN_KEYS))}:${JSON.stringify(randomValue(random, depth))}`
  })
  return JSON.parse(`{${members.join()}}`)
}

/** A content that tends to fit: members of the form, with a value of their own kind. */
function likelyContent(random: Random, form: Json): unknown {
  const entries = Object.entries(form['properties'] as Readonly<Record<string, Json>>).map(([key, member]) => {
    const items = (member['items'] ?? member) as Json
    const choices = (items['enum'] ?? (items['anyOf'] as Json[] | undefined)?.map((item) => item['const'])) as string[]
    const value = pickOne<() => unknown>(random, [
      () => (member['type'] === 'array' ? choices.slice(0, 1) : choices?.[0]) ?? pickOne(random, TEXTS),
      () => (member['type'] === 'boolean' ? true : Math.floor(random() * 4)),
      () => randomValue(random),
    ])()
    return [key, value]
  })
  return Object.fromEntries(entries)
}

test('what is accepted is what a JSON Schema validator accepts', () => {
  const random = seeded(20_260_728)
  const ajv = new Ajv2020({ strict: false, ownProperties: true })
  const seen = { accepted: 0, refused: 0 }
  for (let round = 0; round < 100; round++) {
    const requestedSchema = randomForm(random)
    const question = Elicit.form({ message: 'Please', requestedSchema })
    const fits = ajv.compile(requestedSchema)
    for (let turn = 0; turn < 20; turn++) {
      const content = random() < 0.7 ? likelyContent(random, requestedSchema) : randomContent(random)
      const before = JSON.stringify(content)
      const answer = question.read({ action: 'accept', content })
      const expected = fits(content) ? { action: 'accept', content } : undefined
      expect(answer, `${before} for ${JSON.stringify(requestedSchema)}`).toEqual(expected)
      expect(JSON.stringify(content)).toBe(before)
      seen[expected === undefined ? 'refused' : 'accepted']++
    }
  }
  expect(seen.accepted).toBeGreaterThan(200)
  expect(seen.refused).toBeGreaterThan(200)
})

test('a response at random is read or left, and never thrown at', () => {
  const random = seeded(7)
  const question = Elicit.form({ message: 'Please', requestedSchema: randomForm(seeded(1)) })
  const url = Elicit.url('https://example.com', 'Open')
  for (let turn = 0; turn < 2_000; turn++) {
    const response =
      random() < 0.5 ? randomValue(random) : { action: randomValue(random), content: randomValue(random) }
    expect(question.read(response)).toBeUndefined()
    expect(url.read(response)).toBeUndefined()
  }
  const sample = Sample.message({ messages: [{ role: 'user', content: { type: 'text', text: 'a' } }], maxTokens: 1 })
  for (let turn = 0; turn < 2_000; turn++) {
    const content = randomValue(random)
    const stopReason = randomValue(random)
    // All that fits by chance is a model that said nothing.
    const said = Array.isArray(content) && content.length === 0 && typeof stopReason === 'string'
    const answer = sample.read({ role: 'assistant', model: 'm', content, stopReason })
    expect(answer !== undefined).toBe(said)
    expect(Roots.list().read({ roots: Array.isArray(content) ? [0, ...content] : content })).toBeUndefined()
    if (question.read({ action: 'accept', content }) !== undefined) expect(isRecord(content)).toBe(true)
  }
})
