import type { Awaitable } from '../awaitable.js'
import { assertCounts, assertOptions, assertTimes, pick } from '../options.js'
import type { ToolSpec } from '../protocol/model.js'
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
import type { ToolOutcome } from './extension-outcome.js'
import type { Asks } from './input-required.js'
import {
  inputSchema,
  type JsonSchema,
  type MirroredParam,
  mirroredParams,
  outputSchema,
  type Received,
  type Schema,
  type Shape,
} from './schema.js'
import { LIMITS, type ToolLimits } from './tool-limits.js'
import type { ToolResult } from './tool-result.js'

/**
 * Options that extensions add to tools. An extension merges its own into it: `declare module 'phantom-mcp' { interface
 * ExtensionToolOptions { readonly mine?: boolean } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by extensions
export interface ExtensionToolOptions {}

/** How a tool is declared. */
export interface ToolOptions<Input, Output, InputJson = undefined, Assigns extends object = object>
  extends DescribedOptions,
    ToolLimits<Assigns>,
    ExtensionToolOptions {
  /** A record of fields, or a Standard Schema that gives its JSON Schema. The handler gets the parsed value. */
  readonly input?: Input
  /** A plain JSON Schema 2020-12 in place of `input`: sent as given and enforced whole. */
  readonly inputSchema?: InputJson
  /** What the handler returns, as fields or a Standard Schema; checked when it is compiled and when it runs. */
  readonly output?: Output
  /** A plain JSON Schema 2020-12 in place of `output`. */
  readonly outputSchema?: JsonSchema
  /** It changes nothing. */
  readonly readOnly?: boolean
  /** It may destroy something; clients assume so unless this is false. */
  readonly destructive?: boolean
  /** Twice is the same as once. */
  readonly idempotent?: boolean
  /** It deals with a world outside of this server; clients assume so unless this is false. */
  readonly openWorld?: boolean
  /**
   * Its handler may run again from its first line when it asks the client and its node goes before the answer comes: say so
   * once its effects before a question are inside `session.once`. @default what is read only or idempotent may
   */
  readonly replay?: boolean
}

/** What the handler gets as its first argument. */
export type ToolParams<Input, InputJson> = InputJson extends JsonSchema
  ? Readonly<Record<string, unknown>>
  : Received<Input>

/** Optional members may be there and undefined: JSON leaves them out. */
type Loose<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]: object extends Pick<Value, Key> ? Value[Key] | undefined : Value[Key] }
    : Value

/** What a handler may return where an output is declared: its value, or a builder's result. */
export type LegalReturn<Output> = Awaitable<ToolResult | Asks | Deferred | ToolOutcome | Loose<Output>>

/** The same, with members that are not declared as compile errors, in each way that the handler may end. */
export type DeclaredReturn<Output, Returned> =
  Returned extends PromiseLike<infer Value> ? PromiseLike<NoExtra<Output, Value>> : NoExtra<Output, Returned>

type NoExtra<Output, Value> = Value extends ToolResult | Asks | Deferred | ToolOutcome
  ? Value
  : Value & Record<Exclude<KeysOf<Value>, KeysOf<Output>>, never>
type KeysOf<Value> = Value extends object ? keyof Value : never

/** What a handler may return where none is: a builder's result, or any JSON value. */
export type FreeReturn = ToolResult | Asks | Deferred | string | number | boolean | null | undefined | object

/** A tool, checked and ready to be offered. */
export interface ToolDefinition<Assigns extends object = object> extends Definition<Assigns> {
  readonly kind: 'tool'
  readonly spec: ToolSpec
  /** @internal */
  readonly input: Schema
  /** @internal */
  readonly output: Schema | undefined
  /** @internal */
  readonly mirrored: readonly MirroredParam[]
  /** @internal Options that only an extension can know; they are checked when a router takes the tool. */
  readonly added: Readonly<Record<string, unknown>> | undefined
  /** @internal Options that every tool has. */
  readonly known: readonly string[]
  /** @internal */
  readonly limits: ToolLimits<never>
  /** @internal Whether its handler may run again. */
  readonly replay: boolean
  /** @internal */
  readonly handler: (params: never, session: never) => unknown
}

const HINTS = {
  readOnly: 'readOnlyHint',
  destructive: 'destructiveHint',
  idempotent: 'idempotentHint',
  openWorld: 'openWorldHint',
} as const
const OPTIONS = [
  ...DESCRIBED_OPTIONS,
  ...LIMITS,
  'input',
  'inputSchema',
  'output',
  'outputSchema',
  'replay',
  ...Object.keys(HINTS),
]

export interface UncheckedToolOptions
  extends ToolOptions<Shape | undefined, Shape | undefined, JsonSchema | undefined, never> {}

/** @throws TypeError that names the tool and the option. */
export function defineTool(name: string, options: UncheckedToolOptions, handler: unknown): ToolDefinition<never> {
  assertName('tool', name)
  const owner = `tool '${name}'`
  const added = addedOptions(owner, options)
  assertHandler(owner, handler)
  assertTimes(owner, options, ['timeoutMs'])
  assertCounts(owner, options, ['maxConcurrency'])
  for (const middleware of options.middleware ?? []) assertFunction(`${owner}, middleware`, middleware)
  const input = inputSchema(owner, given(options, 'input', 'inputSchema'))
  const output = outputSchema(owner, given(options, 'output', 'outputSchema'))
  const annotations = hintsOf(owner, options)
  const spec: ToolSpec = {
    name,
    ...describedMembers(owner, options),
    inputSchema: input.json,
    ...(output === undefined ? {} : { outputSchema: output.json }),
    ...(annotations === undefined ? {} : { annotations }),
  }
  const mirrored = mirroredParams(owner, input.json)
  const limits = pick(options as ToolLimits<never>, ['timeoutMs', 'maxConcurrency', 'middleware'])
  const { replay = options.readOnly === true || options.idempotent === true } = options
  if (typeof replay !== 'boolean') throw new TypeError(`${owner}: replay must be true or false, not ${typeof replay}`)
  const parts = { spec, input, output, mirrored, added, known: OPTIONS, limits, replay }
  return { kind: 'tool', name, ...parts, handler: handler as ToolDefinition['handler'] }
}

function addedOptions(owner: string, options: UncheckedToolOptions): Readonly<Record<string, unknown>> | undefined {
  assertOptions(owner, options)
  const added = Object.entries(options).filter(([option]) => !OPTIONS.includes(option))
  return added.length === 0 ? undefined : Object.fromEntries(added)
}

/** Optional members that are undefined are taken as not given. */
function given<Key extends keyof UncheckedToolOptions>(
  options: UncheckedToolOptions,
  ...keys: Key[]
): PresentOptions<Key> {
  const present = keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return Object.fromEntries(present)
}
type PresentOptions<Key extends keyof UncheckedToolOptions> = { [K in Key]?: NonNullable<UncheckedToolOptions[K]> }

function hintsOf(owner: string, options: UncheckedToolOptions): Record<string, boolean> | undefined {
  const hints: Record<string, boolean> = {}
  for (const [option, hint] of Object.entries(HINTS) as [keyof typeof HINTS, string][]) {
    const value = options[option]
    if (value === undefined) continue
    if (typeof value !== 'boolean')
      throw new TypeError(`${owner}: ${option} must be true or false, not ${typeof value}`)
    hints[hint] = value
  }
  return Object.keys(hints).length === 0 ? undefined : hints
}
