import { expect, test } from 'vitest'
import { isQuestion, missingCapabilities } from './question.js'

test('a question is told by its mark, which JSON cannot carry', () => {
  expect(isQuestion(undefined)).toBe(false)
  expect(isQuestion({ method: 'roots/list', params: {}, requires: { roots: {} }, fingerprint: 'roots/list' })).toBe(
    false,
  )
})

test.each([
  ['nothing', {}, {}, undefined],
  ['a feature', { roots: {} }, {}, { roots: {} }],
  ['a feature that is there', { roots: {} }, { roots: { listChanged: true } }, undefined],
  ['the part of a feature', { sampling: { tools: {} } }, { sampling: {} }, { sampling: { tools: {} } }],
  [
    'one of two parts',
    { sampling: { tools: {}, context: {} } },
    { sampling: { tools: {} } },
    { sampling: { context: {} } },
  ],
  ['one of two features', { sampling: {}, roots: {} }, { sampling: {} }, { roots: {} }],
  ['forms, of a client that names no mode', { elicitation: { form: {} } }, { elicitation: {} }, undefined],
  [
    'forms, of a client that names none that we know',
    { elicitation: { form: {} } },
    { elicitation: { x: {} } },
    undefined,
  ],
  [
    'forms, of a client with URLs',
    { elicitation: { form: {} } },
    { elicitation: { url: {} } },
    { elicitation: { form: {} } },
  ],
  [
    'URLs, of a client that names no mode',
    { elicitation: { url: {} } },
    { elicitation: {} },
    { elicitation: { url: {} } },
  ],
  ['URLs', { elicitation: { url: {} } }, { elicitation: { form: {}, url: {} } }, undefined],
  ['null', { elicitation: { form: {} } }, { elicitation: null as never }, { elicitation: { form: {} } }],
  ['a flag', { sampling: {} }, { sampling: true as never }, { sampling: {} }],
  ['a list', { sampling: {} }, { sampling: [] as never }, { sampling: {} }],
  ['an inherited member', { roots: {} }, Object.create({ roots: {} }), { roots: {} }],
  ['an extension', { extensions: { 'a.b/c': {} } }, { extensions: { 'a.b/d': {} } }, { extensions: { 'a.b/c': {} } }],
])('what is missing of %s', (_name, ...[requires, declared, missing]) => {
  expect(missingCapabilities(requires, declared)).toEqual(missing)
})
