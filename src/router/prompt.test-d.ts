import { expectTypeOf, test } from 'vitest'
import type { Completer, CompletionContext } from './completion.js'
import { Prompt } from './prompt-result.js'
import { createRouter } from './router.js'
import type { Session } from './session.js'

const router = createRouter({ name: 'types', version: '1.0.0' })
declare const studies: { idsStartingWith(start: string): Promise<string[]> }

test('required arguments are there, the others may be missing', () => {
  router.prompt(
    'suggest_questions',
    {
      arguments: {
        study_id: { required: true, description: 'The study to review' },
        tone: {},
        lang: { required: false },
      },
    },
    (params, session) => {
      expectTypeOf(params.study_id).toEqualTypeOf<string>()
      expectTypeOf(params.tone).toEqualTypeOf<string | undefined>()
      expectTypeOf(params.lang).toEqualTypeOf<string | undefined>()
      expectTypeOf<keyof typeof params>().toEqualTypeOf<'study_id' | 'tone' | 'lang'>()
      expectTypeOf(session).toEqualTypeOf<Session<object>>()
      return 'x'
    },
  )
  // @ts-expect-error there is no such argument
  router.prompt('review', { arguments: { repo: {} } }, ({ rpeo }) => String(rpeo))
  // @ts-expect-error it may be missing
  router.prompt('review', { arguments: { repo: {} } }, ({ repo }) => repo.toUpperCase())
  // @ts-expect-error there are no arguments
  router.prompt('review', {}, ({ repo }) => String(repo))
})

test('completers see value, session and context', () => {
  const complete: Completer = async (value, session, context) => {
    expectTypeOf(value).toEqualTypeOf<string>()
    expectTypeOf(session).toEqualTypeOf<Session<object>>()
    expectTypeOf(context).toEqualTypeOf<CompletionContext>()
    return studies.idsStartingWith(value)
  }
  router.prompt(
    'suggest_questions',
    {
      arguments: {
        study_id: { required: true, complete },
        other: { complete: (value) => ({ values: [value], total: 1_000_000, hasMore: true }) },
      },
    },
    ({ study_id }) => study_id,
  )
  // @ts-expect-error numbers are no values
  router.prompt('wrong', { arguments: { id: { complete: () => [1] } } }, () => 'x')
})

test('a prompt returns messages, or text', () => {
  router.prompt('text', {}, () => 'x')
  router.prompt('built', {}, async (_params, session) =>
    Prompt.response([
      Prompt.assistant(Prompt.embeddedResource(await session.readResource('study', { id: 1 }))),
      Prompt.user(Prompt.text('What is missing?')),
      Prompt.user('text alone'),
    ]),
  )
  router.prompt('raw', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] }))
  // @ts-expect-error no role of that name
  router.prompt('raw', {}, () => ({ messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] }))
  // @ts-expect-error a list of content is no prompt
  router.prompt('list', {}, () => [Prompt.text('x')])
  // @ts-expect-error nothing is no prompt
  router.prompt('nothing', {}, () => undefined)
})

test('mistakes in the options are compile errors', () => {
  // @ts-expect-error a misspelt option of an argument
  router.prompt('review', { arguments: { repo: { requird: true } } }, () => 'x')
  // @ts-expect-error a misspelt option
  router.prompt('review', { args: {} }, () => 'x')
})
