import type { AudioContent, ContentBlock, ImageContent, Json, TextContent, ToolSpec } from './model.js'

// The types of sampling and roots. The specification has deprecated both with 2026-07-28, and keeps them until 2027-07-28.

/** A model's wish to have a tool called. */
export interface ToolUseContent {
  readonly type: 'tool_use'
  /** What the result names as `toolUseId`. */
  readonly id: string
  readonly name: string
  readonly input: Json
  readonly _meta?: Json
}

/** What a tool gave, in answer to a {@link ToolUseContent}. */
export interface ToolResultContent {
  readonly type: 'tool_result'
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Json
}

/** One piece of a message to a model. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

/** One piece of what a model said. */
export type SampledContent = Exclude<SamplingContent, ToolResultContent>

/** One message of the conversation that a model goes on with. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant'
  readonly content: SamplingContent | readonly SamplingContent[]
  readonly _meta?: Json
}

/** Which model to take; the client decides. Priorities lie between 0 and 1. */
export interface ModelPreferences {
  /** Names or parts of names, the best first. */
  readonly hints?: readonly { readonly name?: string }[]
  readonly costPriority?: number
  readonly speedPriority?: number
  readonly intelligencePriority?: number
}

/** Parameters of `sampling/createMessage` (2026-07-28 client/sampling). */
export interface CreateMessageParams {
  readonly messages: readonly SamplingMessage[]
  /** Tokens at most; the client may take fewer. */
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly modelPreferences?: ModelPreferences
  /** What the client adds of its servers' context. Others than `none` need the capability `sampling.context`. @default 'none' */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers'
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  /** For the provider of the model. */
  readonly metadata?: Json
  /** Tools that the model may ask for; needs the capability `sampling.tools`, from 2025-11-25 on. */
  readonly tools?: readonly ToolSpec[]
  /** @default { mode: 'auto' } */
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' }
}

/** What a model said. */
export interface CreateMessageResult {
  readonly role: 'user' | 'assistant'
  readonly content: SampledContent | readonly SampledContent[]
  /** The model that was taken. */
  readonly model: string
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the provider's. */
  readonly stopReason?: string
}

/** A folder or file that the client works on; `uri` is a `file://` URI. */
export interface Root {
  readonly uri: string
  readonly name?: string
}
