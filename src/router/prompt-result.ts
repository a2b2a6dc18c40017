import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  Json,
  PromptMessage,
  ResourceContents,
  ResourceLink,
  TextContent,
} from '../protocol/model.js'
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
  typeOf,
} from './content.js'

/** What a prompt answers with, made by `Prompt.response`. */
export interface PromptResult {
  readonly [BUILT]: 'prompt'
  readonly messages: readonly PromptMessage[]
  readonly description?: string
  readonly _meta?: Json
}

/** The specification's own result object passes through as it is. */
export interface RawPromptResult {
  readonly messages: readonly PromptMessage[]
  readonly description?: string
  readonly _meta?: Json
}

/** Builders of prompt results (2026-07-28 server/prompts, PromptMessage). */
export interface PromptBuilders {
  /** The messages, in order; the description is the prompt's own unless given. */
  response(messages: readonly PromptMessage[], options?: { description?: string; _meta?: Json }): PromptResult
  /** A message of the user: content, or text. */
  user(content: ContentBlock | string): PromptMessage
  /** A message of the assistant: content, or text. */
  assistant(content: ContentBlock | string): PromptMessage
  /** Text content. */
  text(text: string, options?: ContentOptions): TextContent
  /** An image from bytes, or from text that is Base64 already. */
  image(data: Binary, mimeType: string, options?: ContentOptions): ImageContent
  /** A sound from bytes, or from text that is Base64 already. */
  audio(data: Binary, mimeType: string, options?: ContentOptions): AudioContent
  /** A resource with its contents, as `session.readResource` gives them. */
  embeddedResource(contents: ResourceContents, options?: ContentOptions): EmbeddedResource
  /** A link that the client may read. */
  resourceLink(uri: string, template: LinkTarget, attributes?: LinkAttributes): ResourceLink
}

const message = (role: PromptMessage['role'], content: ContentBlock | string): PromptMessage => ({
  role,
  content: typeof content === 'string' ? textBlock(content) : content,
})

/** Builders of what a prompt answers with. */
export const Prompt: PromptBuilders = {
  response: (messages, options = {}) => ({ [BUILT]: 'prompt', messages, ...options }),
  user: (content) => message('user', content),
  assistant: (content) => message('assistant', content),
  text: textBlock,
  image: imageBlock,
  audio: audioBlock,
  embeddedResource: embeddedBlock,
  resourceLink: linkBlock,
}

/** A string is one message of the user. @throws TypeError for what is no prompt result. */
export function toPromptResult(value: unknown, description: string | undefined): RawPromptResult {
  const given = typeof value === 'string' ? { messages: [Prompt.user(value)] } : value
  if (!isPromptResult(given)) {
    throw new TypeError(`A prompt must return a string, Prompt.response(…) or { messages }, not ${typeOf(value)}`)
  }
  return given.description === undefined && description !== undefined ? { description, ...given } : given
}

function isPromptResult(value: unknown): value is RawPromptResult {
  return isBuilt(value, 'prompt') || Array.isArray((value as { messages?: unknown } | null | undefined)?.messages)
}
