import type { SamplingMessage, ToolResultContent, ToolUseContent } from '../protocol/sampling.js'
import { BlockCheck, blocksOf } from './sample-blocks.js'

const TYPES = ['text', 'image', 'audio', 'tool_use', 'tool_result'] as const

/**
 * Checks what the messages of a conversation hold, and that each tool call is answered before anything else is said.
 * @throws TypeError naming the message.
 */
export function assertTurns(messages: readonly SamplingMessage[], owner: string): void {
  const blocks = new BlockCheck()
  let open: ReadonlySet<string> = new Set()
  for (const [index, message] of messages.entries()) {
    const at = `${owner}: messages[${index}]`
    const content = blocksOf(message.content)
    if (content.length === 0) throw new TypeError(`${at} has no content. Give it a block.`)
    for (const block of content) {
      const problem = blocks.problemOf(block, TYPES)
      if (problem !== undefined) throw new TypeError(`${at} has content that ${problem}.`)
    }
    assertResults(message, { open, at })
    open = usesOf(message, at)
  }
  if (open.size > 0) {
    throw new TypeError(`${owner}: the last message calls tools. Add a user message with a tool_result for each call.`)
  }
}

/** 2026-07-28 client/sampling, Tool Result Messages: results stand alone, in the message behind their calls. */
function assertResults(
  message: SamplingMessage,
  { open, at }: { readonly open: ReadonlySet<string>; readonly at: string },
): void {
  const content = blocksOf(message.content)
  const results = content.filter(
    (block): block is ToolResultContent => (block as ToolResultContent).type === 'tool_result',
  )
  const ids = results.map((result) => result.toolUseId)
  if (results.length > 0 && message.role !== 'user') {
    throw new TypeError(`${at} has a tool_result of the assistant. Tool results are said by the user.`)
  }
  if (results.length > 0 && results.length < content.length) {
    throw new TypeError(`${at} mixes tool results with other content. Put that into a message of its own.`)
  }
  const stray = ids.find((id, index) => !open.has(id) || ids.indexOf(id) !== index)
  if (stray !== undefined) {
    throw new TypeError(
      `${at} has a tool_result '${stray}' that answers no call of the message before it, or answers it twice.`,
    )
  }
  const left = [...open].find((id) => !ids.includes(id))
  if (left !== undefined) {
    throw new TypeError(
      `${at} leaves the tool_use '${left}' without a tool_result. Answer every call in the next message.`,
    )
  }
}

function usesOf({ role, content }: SamplingMessage, at: string): ReadonlySet<string> {
  const uses = blocksOf(content).filter(
    (block): block is ToolUseContent => (block as ToolUseContent).type === 'tool_use',
  )
  if (uses.length > 0 && role !== 'assistant') {
    throw new TypeError(`${at} has a tool_use of the user. Tools are called by the assistant.`)
  }
  const ids = new Set(uses.map((use) => use.id))
  if (ids.size < uses.length) throw new TypeError(`${at} calls two tools under one id. Give each tool_use its own.`)
  return ids
}
