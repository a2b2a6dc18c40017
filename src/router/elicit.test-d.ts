import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { McpError } from '../errors.js'
import type { CreateMessageResult, Root } from '../protocol/sampling.js'
import { Elicit, type Form, type FormContent, type UrlQuestion } from './elicit.js'
import { field } from './field.js'
import type { Answer, Question } from './question.js'
import { Roots } from './roots.js'
import { Sample } from './sample.js'

/** Stands for `session.elicit`. */
declare function elicit<Content>(
  form: Form<Content>,
  options?: { key?: string; timeoutMs?: number },
): Promise<Answer<Content>>
/** Stands for `session.ask`. */
declare function ask<const Asked extends Readonly<Record<string, Question<unknown>>>>(
  questions: Asked,
): { [Key in keyof Asked]: Asked[Key] extends Question<infer Content> ? Answer<Content> : never }
/** Stands for `router.step`. */
declare function step<State, Content>(
  name: string,
  form: (state: State) => Form<Content>,
  handler: (answer: Answer<Content>, state: State) => unknown,
): (state: State) => void

test('the answer is typed from the fields', async () => {
  const answer = await elicit(
    Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }), age: field.integer() } }),
  )
  switch (answer.action) {
    case 'accept':
      expectTypeOf(answer.content).toEqualTypeOf<{ name: string; age?: number }>()
      break
    case 'unsupported':
      expectTypeOf(answer.action).toEqualTypeOf<'unsupported'>()
      break
    case 'error':
      expectTypeOf(answer.error).toEqualTypeOf<McpError>()
      break
    default:
      expectTypeOf(answer.action).toEqualTypeOf<'decline' | 'cancel' | 'timeout'>()
  }
})

test('a step has its state and the literal union of its choices', () => {
  const confirm = step(
    'confirm_delete',
    ({ path }: { path: string }) =>
      Elicit.form({
        message: `Really delete ${path}?`,
        fields: { confirm: field.string({ in: ['yes', 'no'], required: true, titles: { yes: 'Yes, delete it' } }) },
      }),
    (answer, { path }) => {
      if (answer.action !== 'accept') return 'Cancelled'
      expectTypeOf(answer.content).toEqualTypeOf<{ confirm: 'yes' | 'no' }>()
      return path
    },
  )
  expectTypeOf(confirm).parameter(0).toEqualTypeOf<{ path: string }>()
})

test('the other ways to say a form', () => {
  const schema = z.object({ size: z.enum(['s', 'l']).default('s'), when: z.string().transform(Number) })
  expectTypeOf(Elicit.form({ message: 'm', schema })).toEqualTypeOf<Form<{ size: 's' | 'l'; when: number }>>()
  const requestedSchema = { type: 'object', properties: {} }
  expectTypeOf(Elicit.form({ message: 'm', requestedSchema })).toEqualTypeOf<Form<FormContent>>()
  expectTypeOf(Elicit.form<{ a?: string }>({ message: 'm', requestedSchema })).toEqualTypeOf<Form<{ a?: string }>>()
  expectTypeOf(Elicit.url('https://example.com', 'm')).toEqualTypeOf<UrlQuestion>()
  // @ts-expect-error a form needs a message
  Elicit.form({ fields: {} })
  // @ts-expect-error a value that is not a field
  Elicit.form({ message: 'm', fields: { a: 'string' } })
})

test('questions of several kinds are told apart', () => {
  const answers = ask({
    name: Elicit.form({ message: 'm', fields: { name: field.string() } }),
    site: Elicit.url('https://example.com', 'm'),
    city: Sample.message({ messages: [{ role: 'user', content: { type: 'text', text: 'A city?' } }], maxTokens: 9 }),
    roots: Roots.list(),
  })
  expectTypeOf(answers.name).toEqualTypeOf<Answer<{ name?: string }>>()
  expectTypeOf(answers.site).toEqualTypeOf<Answer<undefined>>()
  expectTypeOf(answers.city).toEqualTypeOf<Answer<CreateMessageResult>>()
  expectTypeOf(answers.roots).toEqualTypeOf<Answer<readonly Root[]>>()
  // @ts-expect-error the tokens must be bounded
  Sample.message({ messages: [] })
})
