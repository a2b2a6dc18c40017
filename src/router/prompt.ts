import type { Awaitable } from '../awaitable.js'
import { assertOptions, pick } from '../options.js'
import type { PromptArgumentSpec, PromptSpec } from '../protocol/model.js'
import type { Completer } from './completion.js'
import {
  assertHandler,
  assertName,
  DESCRIBED_OPTIONS,
  type Definition,
  type DescribedOptions,
  describedMembers,
} from './definition.js'
import type { PromptResult, RawPromptResult } from './prompt-result.js'
import type { Session } from './session.js'

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
) => Awaitable<PromptResult | RawPromptResult | string>

/** A prompt, checked and ready to be offered. */
export interface PromptDefinition<Assigns extends object = object> extends Definition<Assigns> {
  readonly kind: 'prompt'
  readonly spec: PromptSpec
  /** @internal */
  readonly arguments: ReadonlyMap<string, PromptArgument>
  /** @internal */
  readonly handler: (params: never, session: never) => unknown
}

const ARGUMENT_OPTIONS = ['title', 'description', 'required', 'complete']

/** @throws TypeError that names the prompt and the option. */
export function definePrompt(
  name: string,
  options: PromptOptions<PromptArguments<never>>,
  handler: unknown,
): PromptDefinition<never> {
  assertName('prompt', name)
  const owner = `prompt '${name}'`
  assertOptions(owner, options, [...DESCRIBED_OPTIONS, 'arguments'])
  assertHandler(owner, handler)
  const declared = Object.entries(options.arguments ?? {})
  for (const [key, argument] of declared) {
    assertOptions(`${owner}, argument '${key}'`, argument, ARGUMENT_OPTIONS)
    if (argument.complete !== undefined) assertHandler(`${owner}, argument '${key}', complete`, argument.complete)
  }
  const specs = declared.map(([key, argument]) => argumentSpec(key, argument))
  const spec: PromptSpec = {
    name,
    ...describedMembers(owner, options),
    ...(specs.length === 0 ? {} : { arguments: specs }),
  }
  const args = new Map(declared as unknown as [string, PromptArgument][])
  return { kind: 'prompt', name, spec, arguments: args, handler: handler as PromptDefinition['handler'] }
}

function argumentSpec(name: string, argument: PromptArgument<never>): PromptArgumentSpec {
  return { name, ...pick(argument, ['title', 'description', 'required']) }
}
