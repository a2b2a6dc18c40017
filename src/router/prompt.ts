import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Awaitable } from '../awaitable.js'
import { assertOptions, pick } from '../options.js'
import type { PromptArgumentSpec, PromptSpec } from '../protocol/model.js'
import type { Completer } from './completion.js'
import type { Deferred } from './deferred.js'
import {
  assertFunction,
  assertHandler,
  assertName,
  DESCRIBED_OPTIONS,
  type Definition,
  type DescribedOptions,
  describedMembers,
} from './definition.js'
import type { Asks } from './input-required.js'
import type { PromptResult, RawPromptResult } from './prompt-result.js'
import { inputSchema, type JsonSchema, type Schema } from './schema.js'
import type { Session } from './session.js'
import { isStandardSchema } from './standard-schema.js'

/** One argument of a prompt: a string that the user fills in. */
export interface PromptArgument<Assigns extends object = object> {
  readonly title?: string
  readonly description?: string
  /** The prompt is not run without it. @default false */
  readonly required?: boolean
  /** Offers values while the user types. */
  readonly complete?: Completer<Assigns>
}

/** The arguments of a prompt by name, in the order in which they are shown. */
export type PromptArguments<Assigns extends object = object> = Readonly<Record<string, PromptArgument<Assigns>>>

/** How a prompt is declared. */
export interface PromptOptions<Arguments> extends DescribedOptions {
  readonly arguments?: Arguments
}

/** A prompt whose arguments are a Standard Schema of an object of strings: the handler gets the parsed value. */
export interface SchemaPromptOptions<Assigns extends object, Schema = StandardSchemaV1> extends DescribedOptions {
  readonly arguments: Schema
  /** Completers by argument. */
  readonly complete?: Readonly<Record<string, Completer<Assigns>>>
}

type RequiredKeys<Arguments> = {
  [Key in keyof Arguments]: Arguments[Key] extends { readonly required: true } ? Key : never
}[keyof Arguments]

/** What the handler gets: required arguments are there, the others may be missing. */
export type PromptParams<Arguments> = { readonly [Key in RequiredKeys<Arguments>]: string } & {
  readonly [Key in Exclude<keyof Arguments, RequiredKeys<Arguments>>]?: string
}

/** Answers `prompts/get`: a string is one message of the user. */
export type PromptHandler<Arguments, Assigns extends object> = (
  params: PromptParams<Arguments>,
  session: Session<Assigns>,
) => Awaitable<PromptResult | RawPromptResult | Asks | Deferred | string>

/** A prompt, checked and ready to be offered. */
export interface PromptDefinition<Assigns extends object = object> extends Definition<Assigns> {
  readonly kind: 'prompt'
  readonly spec: PromptSpec
  /** @internal Checks and parses the arguments, where a schema declares them. */
  readonly schema: Schema | undefined
  /** @internal */
  readonly arguments: ReadonlyMap<string, PromptArgument>
  /** @internal */
  readonly handler: (params: never, session: never) => unknown
}

const ARGUMENT_OPTIONS = ['title', 'description', 'required', 'complete']

type UncheckedOptions = PromptOptions<PromptArguments<never> | StandardSchemaV1> &
  Pick<SchemaPromptOptions<never>, 'complete'>

/** @throws TypeError that names the prompt and the option. */
export function definePrompt(name: string, options: UncheckedOptions, handler: unknown): PromptDefinition<never> {
  assertName('prompt', name)
  const owner = `prompt '${name}'`
  assertOptions(owner, options, [...DESCRIBED_OPTIONS, 'arguments', 'complete'])
  assertHandler(owner, handler)
  const { arguments: declared = {}, complete } = options
  const ofSchema = isStandardSchema(declared)
  if (complete !== undefined && !ofSchema) {
    throw new TypeError(`${owner}: complete goes with a schema; here each argument has its own`)
  }
  const schema = ofSchema ? inputSchema(owner, { input: declared }) : undefined
  const args = schema === undefined ? (declared as PromptArguments<never>) : argumentsOf(owner, schema.json, complete)
  assertArguments(owner, args)
  const specs = Object.entries(args).map(([key, argument]) => argumentSpec(key, argument))
  const spec: PromptSpec = {
    name,
    ...describedMembers(owner, options),
    ...(specs.length === 0 ? {} : { arguments: specs }),
  }
  const byName = new Map(Object.entries(args) as unknown as [string, PromptArgument][])
  return { kind: 'prompt', name, spec, schema, arguments: byName, handler: handler as PromptDefinition['handler'] }
}

function assertArguments(owner: string, args: PromptArguments<never>): void {
  for (const [key, argument] of Object.entries(args)) {
    assertOptions(`${owner}, argument '${key}'`, argument, ARGUMENT_OPTIONS)
    if (argument.complete !== undefined) assertFunction(`${owner}, argument '${key}', complete`, argument.complete)
  }
}

/** The arguments that a schema of an object describes: what clients see of each is in its property. */
function argumentsOf(
  owner: string,
  json: JsonSchema,
  complete: SchemaPromptOptions<never>['complete'] = {},
): PromptArguments<never> {
  const properties = Object.entries((json['properties'] ?? {}) as Record<string, PromptArgument>)
  const required = new Set((json['required'] ?? []) as readonly string[])
  for (const name of Object.keys(complete)) {
    if (properties.some(([key]) => key === name)) continue
    throw new TypeError(`${owner}: complete names '${name}', which the schema of its arguments does not have`)
  }
  const args = properties.map(([key, property]): [string, PromptArgument<never>] => {
    const completer = complete[key]
    const told = pick(property, ['title', 'description'])
    return [key, { ...told, required: required.has(key), ...(completer === undefined ? {} : { complete: completer }) }]
  })
  return Object.fromEntries(args)
}

function argumentSpec(name: string, argument: PromptArgument<never>): PromptArgumentSpec {
  return { name, ...pick(argument, ['title', 'description', 'required']) }
}
