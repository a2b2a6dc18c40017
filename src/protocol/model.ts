/** Parameters of a message. */
export type Params = Readonly<Record<string, unknown>>

/** Any JSON object that the specification leaves open. */
export type Json = Readonly<Record<string, unknown>>

/** An icon of a server, tool, prompt or resource: `src` is an `https:` or `data:` URI (2025-11-25 on). */
export interface Icon {
  readonly src: string
  readonly mimeType?: string
  readonly sizes?: readonly string[]
  readonly theme?: 'light' | 'dark'
}

/** Name and version of a client or a server. */
export interface Implementation {
  readonly name: string
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
}

/** What a client says it can do. An open set: unknown members are kept. */
export interface ClientCapabilities {
  readonly experimental?: Json
  readonly roots?: Json
  readonly sampling?: Json
  readonly elicitation?: Json
  readonly extensions?: Readonly<Record<string, Json>>
  readonly [capability: string]: unknown
}

export interface ServerCapabilities {
  readonly tools?: { readonly listChanged?: boolean }
  readonly prompts?: { readonly listChanged?: boolean }
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean }
  readonly completions?: Json
  readonly logging?: Json
  readonly extensions?: Readonly<Record<string, Json>>
}

/** Who should see a piece of content, how much it matters from 0 to 1, and when it changed (ISO 8601). */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[]
  readonly priority?: number
  readonly lastModified?: string
}

interface ContentMembers {
  readonly annotations?: Annotations
  readonly _meta?: Json
}
/** A piece of text. */
export interface TextContent extends ContentMembers {
  readonly type: 'text'
  readonly text: string
}
/** A picture: bytes as Base64 with their type. */
export interface ImageContent extends ContentMembers {
  readonly type: 'image'
  readonly data: string
  readonly mimeType: string
}
/** A sound: bytes as Base64 with their type (2025-03-26 on). */
export interface AudioContent extends ContentMembers {
  readonly type: 'audio'
  readonly data: string
  readonly mimeType: string
}
/** A resource by its URI: the client may read it. */
export interface ResourceLink extends ResourceSpec {
  readonly type: 'resource_link'
}
/** A resource with its contents. */
export interface EmbeddedResource extends ContentMembers {
  readonly type: 'resource'
  readonly resource: ResourceContents
}
/** One piece of what a tool answers or a prompt says; what a version lacks becomes text. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource

/** One part of a read resource: text, or bytes as Base64. */
export type ResourceContents = {
  readonly uri: string
  readonly mimeType?: string
  readonly _meta?: Json
} & ({ readonly text: string } | { readonly blob: string })

interface Described {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly _meta?: Json
}
/** A tool as `tools/list` shows it. */
export interface ToolSpec extends Described {
  readonly inputSchema: Json
  readonly outputSchema?: Json
  readonly annotations?: Json
}
/** A resource as `resources/list` shows it; `size` is in bytes. */
export interface ResourceSpec extends Described {
  readonly uri: string
  readonly mimeType?: string
  readonly size?: number
  readonly annotations?: Annotations
}
/** A resource template as `resources/templates/list` shows it. */
export interface ResourceTemplateSpec extends Described {
  readonly uriTemplate: string
  readonly mimeType?: string
  readonly annotations?: Annotations
}
/** One argument of a listed prompt. */
export interface PromptArgumentSpec {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
}
/** A prompt as `prompts/list` shows it. */
export interface PromptSpec extends Described {
  readonly arguments?: readonly PromptArgumentSpec[]
}
/** What a prompt says, and as whom. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant'
  readonly content: ContentBlock
}

/** The eight levels of syslog, from the least to the most severe. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
/** How severe a log message is, as in syslog (RFC 5424). */
export type LogLevel = (typeof LOG_LEVELS)[number]

export function isLogLevel(value: unknown): value is LogLevel {
  return (LOG_LEVELS as readonly unknown[]).includes(value)
}

/** What a client wants its progress notifications to carry. */
export type ProgressToken = string | number

/** W3C trace context as the client sent it in `_meta`: caller-controlled text, to be handed to a tracer and nothing else. */
export interface TraceContext {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

/** The `_meta` of a request, `undefined` where there is none or it is not an object. */
export function metaOf(params: Params): Json | undefined {
  const meta = params['_meta']
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as Json) : undefined
}

export function progressTokenOf(meta: Json | undefined): ProgressToken | undefined {
  const token = meta?.['progressToken']
  return typeof token === 'string' || Number.isSafeInteger(token) ? (token as ProgressToken) : undefined
}

const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const

export function traceContextOf(meta: Json | undefined): TraceContext {
  const trace: Record<string, string> = {}
  for (const key of TRACE_KEYS) {
    const value = meta?.[key]
    if (typeof value === 'string') trace[key] = value
  }
  return trace
}

/** An argument of a tool that its callers repeat in a header `Mcp-Param-<header>` (2026-07-28 server/tools, `x-mcp-header`). */
export interface MirroredParam {
  readonly header: string
  /** Keys that lead to it from the arguments. */
  readonly path: readonly string[]
  readonly type: 'string' | 'integer' | 'boolean'
}

/** A result that is JSON text already, of an object: list pages are kept so. */
export class SerializedResult {
  readonly json: string
  #bytes: Uint8Array | undefined

  constructor(json: string) {
    this.json = json
  }

  /** The JSON without its last brace, so that members can follow; made once, for it is sent many times. */
  get openBytes(): Uint8Array {
    this.#bytes ??= new TextEncoder().encode(this.json.slice(0, -1))
    return this.#bytes
  }
}

/** What an operation answers with: an object of the richest protocol version, or its JSON. */
export type Result = object | SerializedResult

/** The JSON of a result: text, or a kept page with the members that follow its own. */
export type EncodedResult = string | { readonly page: SerializedResult; readonly members: string }

/** A message around a kept page: sent in three pieces instead of being joined anew for each answer. */
export class PageMessage {
  readonly #head: string
  readonly #page: SerializedResult
  readonly #tail: string

  constructor(head: string, { page, members }: Exclude<EncodedResult, string>, tail: string) {
    this.#head = head
    this.#page = page
    this.#tail = `${members}}${tail}`
  }

  get pieces(): readonly (string | Uint8Array)[] {
    return [this.#head, this.#page.openBytes, this.#tail]
  }

  toString(): string {
    return this.#head + this.#page.json.slice(0, -1) + this.#tail
  }
}

/** A message as it goes out. */
export type Body = string | PageMessage
