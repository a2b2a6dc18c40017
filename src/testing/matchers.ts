import type { MatcherContext, MatcherVerdict } from './matcher.js'
import {
  beToolError,
  type ExpectedMedia,
  type ExpectedResource,
  type ExpectedText,
  haveEmbedded,
  haveLink,
  haveMedia,
  haveStructured,
  haveText,
} from './matcher-content.js'
import { beRpcError, type ExpectedElicitation, type ExpectedRpcError, requireElicitation } from './matcher-errors.js'
import { type ExpectedLog, type ExpectedProgress, haveSeen } from './matcher-heard.js'
import { type ExpectedRole, havePromptMessage, haveResourceBlob, haveResourceText } from './matcher-reads.js'
import type { Members } from './members.js'

/** What `expect` learns by {@link matchers}. Values may be asymmetric matchers of the runner, `expect.any(Number)` for one. */
export interface McpMatchers {
  /** A tool's result has this text in one of its blocks, and is no error. */
  toHaveText(text: ExpectedText): void
  /** A tool's result is an error that the model reads, with this text when it is given. */
  toBeToolError(text?: ExpectedText): void
  /** A tool's result has an image. */
  toHaveImage(image?: ExpectedMedia): void
  /** A tool's result has a sound. */
  toHaveAudio(sound?: ExpectedMedia): void
  /** A tool's result has a link to a resource. */
  toHaveResourceLink(link: ExpectedResource): void
  /** A tool's result has a resource in it. */
  toHaveEmbeddedResource(resource: ExpectedResource): void
  /** A tool's result has structured content; this value when one is given. */
  toHaveStructuredContent(value?: unknown): void
  /** A resource that was read has this text, in the part with the URI when that is given. */
  toHaveResourceText(text: ExpectedText, uri?: ExpectedText): void
  /** A resource that was read has these bytes, or this Base64, in the part with the URI when that is given. */
  toHaveResourceBlob(blob: Uint8Array | string, uri?: ExpectedText): void
  /** A prompt has a message with this text, or with a block that has these members, of this role when it is given. */
  toHavePromptMessage(content: ExpectedText | Members, role?: ExpectedRole): void
  /** A request was answered with a JSON-RPC error; for what `rejects` gives. */
  toBeRpcError(error?: ExpectedRpcError): void
  /** A call needs an answer of the user first: for what it gave, or for what `rejects` gives. */
  toRequireElicitation(elicitation?: ExpectedElicitation): void
  /** A client was told of progress. */
  toHaveSeenProgress(progress?: ExpectedProgress): void
  /** A client was told something of the log. */
  toHaveSeenLog(log?: ExpectedLog): void
}

/** The matchers as a runner calls them. */
export type MatcherFunctions = {
  readonly [Name in keyof McpMatchers]: (
    this: MatcherContext,
    received: unknown,
    ...expected: Parameters<McpMatchers[Name]>
  ) => MatcherVerdict
}

/**
 * Matchers for what a server answers, for vitest and Jest alike. `phantom-mcp/testing/vitest` gives them with their types.
 *
 * @example
 * expect.extend(matchers)
 * expect(await client.callTool('greet', { name: 'Ada' })).toHaveText('Hello Ada')
 */
export const matchers: MatcherFunctions = {
  toHaveText(received, text) {
    return haveText(this, received, text)
  },
  toBeToolError(received, text) {
    return beToolError(this, received, text)
  },
  toHaveImage(received, media) {
    return haveMedia(this, received, { type: 'image', media })
  },
  toHaveAudio(received, media) {
    return haveMedia(this, received, { type: 'audio', media })
  },
  toHaveResourceLink(received, link) {
    return haveLink(this, received, link)
  },
  toHaveEmbeddedResource(received, resource) {
    return haveEmbedded(this, received, resource)
  },
  toHaveStructuredContent(received, ...given) {
    return haveStructured(this, received, given)
  },
  toHaveResourceText(received, text, uri) {
    return haveResourceText(this, received, { text, uri })
  },
  toHaveResourceBlob(received, blob, uri) {
    return haveResourceBlob(this, received, { blob, uri })
  },
  toHavePromptMessage(received, content, role) {
    return havePromptMessage(this, received, { content, role })
  },
  toBeRpcError(received, error) {
    return beRpcError(this, received, error)
  },
  toRequireElicitation(received, elicitation) {
    return requireElicitation(this, received, elicitation)
  },
  toHaveSeenProgress(received, expected) {
    return haveSeen(this, received, { kind: 'progress', expected })
  },
  toHaveSeenLog(received, expected) {
    return haveSeen(this, received, { kind: 'log', expected })
  },
}
