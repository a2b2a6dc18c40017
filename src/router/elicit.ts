import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Awaitable } from '../awaitable.js'
import { isPromise } from '../awaitable.js'
import { assertOptions } from '../options.js'
import type { Json } from '../protocol/model.js'
import { BUILT } from './built.js'
import type { Fields, InferFields } from './field-types.js'
import { type FormSchema, fieldForm, plainForm, standardForm } from './form-schema.js'
import { canonicalJson, isRecord } from './json-value.js'
import type { Answer, Question } from './question.js'
import type { Checked, JsonSchema } from './schema-model.js'

/** A question that the client puts to its user as a form; `Content` is what the user fills in. */
export interface Form<Content = FormContent> extends Question<Content> {
  readonly method: 'elicitation/create'
  readonly message: string
  /** Carries the type only; there is nothing here at run time. */
  readonly '~content'?: Content | undefined
}

/** A page for the client's user to open. */
export interface UrlQuestion extends Question<undefined> {
  readonly elicitationId: string
}

/** What a form can have in it at all. */
export type FormContent = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** Builders of questions to the client's user (2026-07-28 client/elicitation). */
export interface ElicitBuilders {
  /**
   * A form of fields: strings, numbers, integers, booleans, choices (`in`) and lists of choices.
   *
   * @throws TypeError for a field that has no place in a form, with the mend, as do the other ways to say it.
   */
  form<const F extends Fields>(options: { readonly message: string; readonly fields: F }): Form<InferFields<F>>
  /** A form by a Standard Schema that gives its JSON Schema; the answer is the parsed value. */
  form<S extends StandardSchemaV1>(options: {
    readonly message: string
    readonly schema: S
  }): Form<StandardSchemaV1.InferOutput<S>>
  /** A form by its JSON Schema, in the restricted form that the specification has for it. */
  form<Content = FormContent>(options: {
    readonly message: string
    readonly requestedSchema: JsonSchema
  }): Form<Content>
  /**
   * A page that the user opens in a browser, once they have agreed. `accept` says just that: what happens on the page, your own
   * server knows.
   *
   * The question has an `elicitationId`, your own or a random one: it names what the user is asked for to clients of 2025-11-25, and
   * to `server.notifyElicitationComplete`.
   *
   * @throws TypeError unless it is an http or https URL.
   */
  url(url: string | URL, message: string, options?: { readonly elicitationId?: string }): UrlQuestion
}

/**
 * Builders of questions to the client's user.
 *
 * @example
 * Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
 */
export const Elicit: ElicitBuilders = {
  form: (options: object): Form<never> => buildForm(options),
  url: (url, message, { elicitationId = crypto.randomUUID() } = {}) => {
    if (typeof elicitationId !== 'string' || elicitationId === '') {
      throw new TypeError('Elicit.url: elicitationId must be a string that is not empty')
    }
    const params = { mode: 'url', message: readMessage(message, 'Elicit.url'), url: readUrl(url) }
    return {
      [BUILT]: 'question',
      method: METHOD,
      params,
      elicitationId,
      requires: { elicitation: { url: {} } },
      fingerprint: `${METHOD} url`,
      read: (response) => readChoice(response, () => ({ action: 'accept', content: undefined })),
    }
  },
}

const METHOD = 'elicitation/create'
const WAYS = { fields: fieldForm, schema: standardForm, requestedSchema: plainForm } as const

function buildForm(options: object): Form<never> {
  const owner = 'Elicit.form'
  assertOptions(owner, options, ['message', ...Object.keys(WAYS)])
  const given = options as Json
  const message = readMessage(given['message'], owner)
  const schema = readWay(given, owner)
  return {
    [BUILT]: 'question',
    method: METHOD,
    message,
    params: { mode: 'form', message, requestedSchema: schema.json },
    requires: { elicitation: { form: {} } },
    fingerprint: `${METHOD} ${canonicalJson(schema.limits)}`,
    read: (response) => readChoice(response, (content) => readContent(schema, content)),
  }
}

function readWay(given: Json, owner: string): FormSchema {
  const ways = (Object.keys(WAYS) as (keyof typeof WAYS)[]).filter((way) => given[way] !== undefined)
  const [way, ...others] = ways
  if (way === undefined || others.length > 0) {
    throw new TypeError(
      `${owner}: needs one of 'fields', 'schema' and 'requestedSchema', not ${ways.join(' and ') || 'none'}.`,
    )
  }
  return WAYS[way](given[way], owner)
}

function readMessage(message: unknown, owner: string): string {
  if (typeof message === 'string' && message !== '') return message
  throw new TypeError(`${owner}: needs a 'message', which tells the user what is wanted and why.`)
}

function readUrl(url: unknown): string {
  const text = String(url)
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  // 2026-07-28 client/elicitation, Safe URL Handling: clients open nothing else.
  if (parsed?.protocol === 'https:' || parsed?.protocol === 'http:') return parsed.href
  throw new TypeError(`Elicit.url: '${text}' is no http or https URL. Give the whole URL of a page.`)
}

/** What the user chose; `accept` reads the content that comes with it. */
function readChoice<Content>(
  response: unknown,
  accept: (content: unknown) => Awaitable<Answer<Content> | undefined>,
): Awaitable<Answer<Content> | undefined> {
  if (!isRecord(response)) return undefined
  const { action, content } = response
  if (action === 'accept') return accept(content)
  return action === 'decline' || action === 'cancel' ? { action } : undefined
}

/** A client may leave out the content of a form that was sent empty. */
function readContent(schema: FormSchema, content: unknown = {}): Awaitable<Answer<never> | undefined> {
  if (!isRecord(content)) return undefined
  const checked: Awaitable<Checked> = schema.check(content)
  return isPromise(checked) ? checked.then(toAnswer) : toAnswer(checked)
}

function toAnswer(checked: Checked): Answer<never> | undefined {
  return checked.ok ? { action: 'accept', content: checked.value as never } : undefined
}
