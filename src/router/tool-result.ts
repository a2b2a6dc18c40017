import type { ContentBlock, Json, ResourceContents } from '../protocol/model.js'
import { BUILT, isBuilt } from './built.js'
import {
  audioBlock,
  type Binary,
  type ContentOptions,
  embeddedBlock,
  imageBlock,
  type LinkAttributes,
  type LinkTarget,
  linkBlock,
  textBlock,
  toJsonText,
} from './content.js'
import type { UrlQuestion } from './elicit.js'
import {
  type ElicitationRequired,
  elicitationRequired,
  type InputRequired,
  type InputRequiredOptions,
  inputRequired,
} from './input-required.js'

/** What a tool answers with, made by a builder of {@link Tool}. */
export interface ToolResult {
  readonly [BUILT]: 'tool'
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Json
}

/** What {@link Tool.content} adds to its blocks. */
export interface ToolContentOptions {
  /** Structured content beside the blocks; checked against the tool's `output`. */
  readonly structured?: unknown
  /** True for a failure that the model should read. */
  readonly isError?: boolean
  readonly _meta?: Json
}

/** Builders of tool results (2026-07-28 server/tools, Tool Result). */
export interface ToolBuilders {
  /** One block of text. */
  text(text: string, options?: ContentOptions): ToolResult
  /** Any JSON value, as structured content and as the text of its JSON. @throws TypeError for what JSON cannot hold. */
  structured(value: unknown): ToolResult
  /** A failure that the model reads and can act upon; use `McpError` for a request that cannot be served. */
  error(text: string): ToolResult
  /** An image from bytes, or from text that is Base64 already. */
  image(data: Binary, mimeType: string, options?: ContentOptions): ToolResult
  /** A sound from bytes, or from text that is Base64 already. */
  audio(data: Binary, mimeType: string, options?: ContentOptions): ToolResult
  /** A resource with its contents, as `session.readResource` gives them. */
  embeddedResource(contents: ResourceContents, options?: ContentOptions): ToolResult
  /** A link that the client may read: `template` as `router.resourceFor` gives it; `attributes` win over it. */
  resourceLink(uri: string, template: LinkTarget, attributes?: LinkAttributes): ToolResult
  /** Several blocks in one result: blocks, and results of the other builders. */
  content(items: readonly (ContentBlock | ToolResult)[], options?: ToolContentOptions): ToolResult
  /**
   * Asks the client, and runs the handler again with the answers: for full control over what is asked and kept. Any handler may
   * return it. @throws TypeError when there is nothing to ask and nothing to keep.
   */
  inputRequired(options: InputRequiredOptions): InputRequired
  /**
   * The user has to open these pages first. Where the version can say so the call fails with them, and the client tries again;
   * where it asks in rounds, the handler runs again when the user has agreed to open all, with `session.state` as
   * `{ elicitation_ids }`. @throws TypeError for what `Elicit.url` did not make.
   */
  elicitationRequired(urls: readonly UrlQuestion[]): ElicitationRequired
}

function isToolResult(value: unknown): value is ToolResult {
  return isBuilt(value, 'tool')
}

const result = (content: readonly ContentBlock[]): ToolResult => ({ [BUILT]: 'tool', content })

/** Builders of what a tool answers with. */
export const Tool: ToolBuilders = {
  text: (text, options) => result([textBlock(text, options)]),
  structured: (value) => ({ ...result([textBlock(toJsonText(value))]), structuredContent: value }),
  error: (text) => ({ ...result([textBlock(text)]), isError: true }),
  image: (data, mimeType, options) => result([imageBlock(data, mimeType, options)]),
  audio: (data, mimeType, options) => result([audioBlock(data, mimeType, options)]),
  embeddedResource: (contents, options) => result([embeddedBlock(contents, options)]),
  resourceLink: (uri, template, attributes) => result([linkBlock(uri, template, attributes)]),
  content: (items, options = {}) => {
    const { structured, ...rest } = options
    const content = items.flatMap((item) => (isToolResult(item) ? item.content : [item]))
    return Object.hasOwn(options, 'structured')
      ? { ...result(content), ...rest, structuredContent: structured }
      : { ...result(content), ...rest }
  },
  inputRequired,
  elicitationRequired,
}

/**
 * What a handler may return without a builder: text for a string, nothing for undefined, and the JSON of any other value,
 * structured. Where an output is declared, every value is one of it.
 */
export function toToolResult(value: unknown, declared = false): ToolResult {
  if (isToolResult(value)) return value
  if (declared && value !== undefined) return Tool.structured(value)
  if (typeof value === 'string') return result([{ type: 'text', text: value }])
  return value === undefined ? result([]) : Tool.structured(value)
}
