import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Awaitable } from '../awaitable.js'
import type { AnyDefinition } from './catalogue.js'
import type { Deferred } from './deferred.js'
import type { Asks } from './input-required.js'
import {
  definePrompt,
  type PromptArguments,
  type PromptDefinition,
  type PromptHandler,
  type PromptOptions,
  type SchemaPromptOptions,
} from './prompt.js'
import type { PromptResult, RawPromptResult } from './prompt-result.js'
import type { Question } from './question.js'
import { defineResource, type ResourceDefinition, type ResourceHandler, type ResourceOptions } from './resource.js'
import type { Given, JsonSchema, Shape } from './schema.js'
import type { Session } from './session.js'
import { defineStep, type Step, type StepHandler, type StepOptions } from './step.js'
import {
  type DeclaredReturn,
  defineTool,
  type FreeReturn,
  type LegalReturn,
  type ToolDefinition,
  type ToolOptions,
  type ToolParams,
  type UncheckedToolOptions,
} from './tool.js'

/** The functions that turn a declaration into a definition, with the session's type said once. */
export interface DefinitionBuilders<Assigns extends object> {
  /** A tool whose result is free: text, any JSON value, or what a builder of `Tool` made. */
  tool<const Input extends Shape | undefined = undefined, const InputJson extends JsonSchema | undefined = undefined>(
    name: string,
    options: ToolOptions<Input, undefined, InputJson, Assigns> & { readonly output?: undefined },
    handler: (params: ToolParams<Input, InputJson>, session: Session<Assigns>) => Awaitable<FreeReturn>,
  ): ToolDefinition<Assigns>
  /** A tool with a declared output: what the handler returns is checked when it is compiled and when it runs. */
  tool<
    const Output extends Shape,
    const Input extends Shape | undefined = undefined,
    const InputJson extends JsonSchema | undefined = undefined,
    Returned extends LegalReturn<Given<Output>> = LegalReturn<Given<Output>>,
  >(
    name: string,
    options: ToolOptions<Input, Output, InputJson, Assigns> & { readonly output: Output },
    handler: (
      params: ToolParams<Input, InputJson>,
      session: Session<Assigns>,
    ) => Returned & DeclaredReturn<Given<Output>, Returned>,
  ): ToolDefinition<Assigns>
  /** A prompt; its arguments are strings, and the required ones are there. */
  prompt<const Arguments extends PromptArguments<Assigns> = Readonly<Record<never, never>>>(
    name: string,
    options: PromptOptions<Arguments & PromptArguments<Assigns>>,
    handler: PromptHandler<Arguments, Assigns>,
  ): PromptDefinition<Assigns>
  /** A prompt whose arguments are a Standard Schema: the handler gets the parsed value. */
  prompt<Schema extends StandardSchemaV1>(
    name: string,
    options: SchemaPromptOptions<Assigns, Schema>,
    handler: (
      params: StandardSchemaV1.InferOutput<Schema>,
      session: Session<Assigns>,
    ) => Awaitable<PromptResult | RawPromptResult | Asks | Deferred | string>,
  ): PromptDefinition<Assigns>
  /** A resource at a fixed URI, or at all URIs of a pattern. */
  resource<const Pattern extends string>(
    pattern: Pattern,
    options: ResourceOptions<Assigns>,
    handler: ResourceHandler<Pattern, Assigns>,
  ): ResourceDefinition<Assigns>
  /**
   * A question by name, with what happens when it is answered: see `session.elicit`. Nothing waits in between, so the handler gets
   * all it needs as its state.
   */
  step<State, Content>(
    name: string,
    question: (state: State) => Question<Content>,
    handler: StepHandler<State, Content, Assigns>,
    options?: StepOptions,
  ): Step<State, Content, Assigns>
}

/** What can be registered: what clients see, and steps, which they do not. */
export type Registered = AnyDefinition | Step<never, never, never>

/** `register` sees each definition before it is returned. */
export function definitionBuilders<Assigns extends object>(
  register: (definition: Registered) => void,
): DefinitionBuilders<Assigns> {
  const registered = <Kind extends Registered>(definition: Kind): Kind => {
    register(definition)
    return definition
  }
  return {
    tool: ((name: string, options: UncheckedToolOptions, handler: unknown) =>
      registered(defineTool(name, options, handler))) as unknown as DefinitionBuilders<Assigns>['tool'],
    prompt: ((name: string, options: Parameters<typeof definePrompt>[1], handler: unknown) =>
      registered(definePrompt(name, options, handler))) as unknown as DefinitionBuilders<Assigns>['prompt'],
    resource: (pattern, options, handler) =>
      registered(
        defineResource(pattern, options as ResourceOptions<never>, handler),
      ) as unknown as ResourceDefinition<Assigns>,
    // biome-ignore lint/complexity/useMaxParams: the order in which a step is read, as for tools
    step: (name, question, handler, options) => registered(defineStep(name, { question, handler, options })) as never,
  }
}

/**
 * Definitions in files of their own: say what the session holds once, and register with `router.add`.
 *
 * @example
 * const app = defineFor<{ user: User }>()
 * export const whoami = app.tool('whoami', {}, (_params, session) => session.assigns.user.name)
 */
export function defineFor<Assigns extends object = object>(): DefinitionBuilders<Assigns> {
  return definitionBuilders<Assigns>(() => undefined)
}
