import { encodeBase64 } from '../base64.js'
import { isRecord } from '../router/json-value.js'
import { fits, fitsMembers, type MatcherContext, type MatcherVerdict, partsOf, show, verdict } from './matcher.js'
import type { Members } from './members.js'

/** Text that is this text, or that fits an expression. */
export type ExpectedText = string | RegExp
/** An image or a sound, as far as it matters; bytes, or Base64. */
export interface ExpectedMedia {
  readonly data?: Uint8Array | string
  readonly mimeType?: ExpectedText
}
/** A resource by its URI, or by any of its members. */
export type ExpectedResource = ExpectedText | Members

/** One of a result's blocks that is of the type, and as it is wanted. */
interface WantedBlock {
  readonly matcher: string
  readonly type: string
  /** What a block of the type has to be, and how that is said. */
  readonly accepts: (block: Members) => boolean
  readonly wanted: string
}

export function haveText(context: MatcherContext, received: unknown, text: ExpectedText): MatcherVerdict {
  const blocks = contentOf(received, 'toHaveText')
  const texts = textsOf(blocks)
  const failed = isFailed(received)
  return verdict(
    {
      pass: !failed && texts.some((one) => fits(context, one, text)),
      wanted: `have the text ${show(text)}`,
      found: describeResult(received, blocks),
      ...sideBySide(texts, text),
    },
    context,
  )
}

export function beToolError(context: MatcherContext, received: unknown, text?: ExpectedText): MatcherVerdict {
  const blocks = contentOf(received, 'toBeToolError')
  const texts = textsOf(blocks)
  return verdict(
    {
      pass: isFailed(received) && (text === undefined || texts.some((one) => fits(context, one, text))),
      wanted: text === undefined ? 'be an error of the tool' : `be an error of the tool with the text ${show(text)}`,
      found: describeResult(received, blocks),
      ...sideBySide(texts, text),
    },
    context,
  )
}

export function haveMedia(
  context: MatcherContext,
  received: unknown,
  { type, media = {} }: { readonly type: 'image' | 'audio'; readonly media?: ExpectedMedia | undefined },
): MatcherVerdict {
  const { data } = media
  const expected = data instanceof Uint8Array ? { ...media, data: encodeBase64(data) } : media
  const noun = type === 'image' ? 'an image' : 'a sound'
  return haveBlock(context, received, {
    matcher: type === 'image' ? 'toHaveImage' : 'toHaveAudio',
    type,
    accepts: (block) => fitsMembers(context, block, expected),
    wanted: `have ${noun}${isEmpty(expected) ? '' : ` with ${show(expected)}`}`,
  })
}

export function haveLink(context: MatcherContext, received: unknown, link: ExpectedResource): MatcherVerdict {
  return haveBlock(context, received, {
    matcher: 'toHaveResourceLink',
    type: 'resource_link',
    accepts: (block) => fitsMembers(context, block, resourceMembers(link)),
    wanted: `have a resource link with ${show(resourceMembers(link))}`,
  })
}

export function haveEmbedded(context: MatcherContext, received: unknown, resource: ExpectedResource): MatcherVerdict {
  return haveBlock(context, received, {
    matcher: 'toHaveEmbeddedResource',
    type: 'resource',
    accepts: (block) => fitsMembers(context, block['resource'], resourceMembers(resource)),
    wanted: `have an embedded resource with ${show(resourceMembers(resource))}`,
  })
}

export function haveStructured(context: MatcherContext, received: unknown, given: readonly unknown[]): MatcherVerdict {
  const blocks = contentOf(received, 'toHaveStructuredContent')
  const { structuredContent: actual } = received as Members
  const [expected] = given
  const found = actual === undefined ? describeResult(received, blocks) : [`structured content ${show(actual)}`]
  const some = { pass: actual !== undefined, wanted: 'have structured content', found }
  if (given.length === 0) return verdict(some, context)
  const pass = actual !== undefined && context.equals(actual, expected)
  return verdict({ pass, wanted: `have the structured content ${show(expected)}`, found, actual, expected }, context)
}

function haveBlock(
  context: MatcherContext,
  received: unknown,
  { matcher, type, accepts, wanted }: WantedBlock,
): MatcherVerdict {
  const blocks = contentOf(received, matcher)
  const pass = blocks.some((block) => block['type'] === type && accepts(block))
  return verdict({ pass, wanted, found: describeResult(received, blocks) }, context)
}

function contentOf(received: unknown, matcher: string): readonly Members[] {
  return partsOf(received, 'content', `${matcher} needs what callTool gave, which has content`)
}

function isFailed(received: unknown): boolean {
  return isRecord(received) && received['isError'] === true
}

function textsOf(blocks: readonly Members[]): readonly unknown[] {
  return blocks.filter((block) => block['type'] === 'text').map((block) => block['text'])
}

/** Texts are shown side by side where there is one of each. */
function sideBySide(texts: readonly unknown[], expected: unknown): { actual?: unknown; expected?: unknown } {
  return texts.length === 1 && typeof expected === 'string' ? { actual: texts[0], expected } : {}
}

function resourceMembers(expected: ExpectedResource): Members {
  return typeof expected === 'string' || expected instanceof RegExp ? { uri: expected } : expected
}

function isEmpty(members: object): boolean {
  return Object.keys(members).length === 0
}

function describeResult(received: unknown, blocks: readonly Members[]): readonly string[] {
  const prefix = isFailed(received) ? 'an error with ' : ''
  return blocks.map((block) => prefix + describeBlock(block))
}

/** A block in a line, without its bytes. */
export function describeBlock(block: Members): string {
  const { type, text, data, mimeType, resource } = block
  switch (type) {
    case 'text':
      return `text ${show(text)}`
    case 'image':
    case 'audio':
      return `${type} ${String(mimeType)}, ${String(data).length} characters of Base64`
    case 'resource':
      return `resource ${show(resource)}`
    default:
      return show(block)
  }
}
