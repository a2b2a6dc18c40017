import { encodeBase64 } from '../base64.js'
import { fits, fitsMembers, type MatcherContext, type MatcherVerdict, partsOf, show, verdict } from './matcher.js'
import { describeBlock, type ExpectedText } from './matcher-content.js'
import type { Members } from './members.js'

/** What a part of a read resource has to be. */
interface WantedPart {
  readonly matcher: string
  readonly member: 'text' | 'blob'
  readonly expected: ExpectedText
  readonly uri: ExpectedText | undefined
}

export function haveResourceText(
  context: MatcherContext,
  received: unknown,
  { text, uri }: { readonly text: ExpectedText; readonly uri: ExpectedText | undefined },
): MatcherVerdict {
  return havePart(context, received, { matcher: 'toHaveResourceText', member: 'text', expected: text, uri })
}

export function haveResourceBlob(
  context: MatcherContext,
  received: unknown,
  { blob, uri }: { readonly blob: Uint8Array | string; readonly uri: ExpectedText | undefined },
): MatcherVerdict {
  const expected = blob instanceof Uint8Array ? encodeBase64(blob) : blob
  return havePart(context, received, { matcher: 'toHaveResourceBlob', member: 'blob', expected, uri })
}

function havePart(
  context: MatcherContext,
  received: unknown,
  { matcher, member, expected, uri }: WantedPart,
): MatcherVerdict {
  const contents = partsOf(received, 'contents', `${matcher} needs what readResource gave, which has contents`)
  const ofUri = contents.filter((part) => uri === undefined || fits(context, part['uri'], uri))
  const values = ofUri.map((part) => part[member]).filter((value) => value !== undefined)
  return verdict(
    {
      pass: values.some((value) => fits(context, value, expected)),
      wanted: `have the ${member} ${show(expected)}${uri === undefined ? '' : ` of ${show(uri)}`}`,
      found: contents.map((part) => show(part)),
      ...(values.length === 1 && typeof expected === 'string' ? { actual: values[0], expected } : {}),
    },
    context,
  )
}

/** Who says a prompt's message; anybody when it is left out. */
export type ExpectedRole = 'user' | 'assistant'

export function havePromptMessage(
  context: MatcherContext,
  received: unknown,
  { content, role }: { readonly content: ExpectedText | Members; readonly role: ExpectedRole | undefined },
): MatcherVerdict {
  const messages = partsOf(received, 'messages', 'toHavePromptMessage needs what getPrompt gave, which has messages')
  const isText = typeof content === 'string' || content instanceof RegExp
  const expected = isText ? { type: 'text', text: content } : content
  return verdict(
    {
      pass: messages.some(
        (message) =>
          (role === undefined || message['role'] === role) && fitsMembers(context, message['content'], expected),
      ),
      wanted: `have a message${role === undefined ? '' : ` of the ${role}`} with ${show(isText ? content : expected)}`,
      found: messages.map((message) => `${String(message['role'])}: ${describeBlock(message['content'] as Members)}`),
    },
    context,
  )
}
