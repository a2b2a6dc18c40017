import { assertOptions } from '../options.js'
import type { ClientCapabilities, Json } from '../protocol/model.js'
import type { CreateMessageParams, CreateMessageResult } from '../protocol/sampling.js'
import { BUILT } from './built.js'
import { field } from './field.js'
import { FieldSchema } from './field-schema.js'
import type { Fields } from './field-types.js'
import { isRecord } from './json-value.js'
import type { Answer, Question } from './question.js'
import { BlockCheck, blocksOf, errorsOf } from './sample-blocks.js'
import { assertTurns } from './sample-turns.js'

/** Builders of questions to the client's model. */
export interface SampleBuilders {
  /**
   * What a model of the client's says next in a conversation.
   *
   * @deprecated By the specification, with 2026-07-28: call a model's own API. Clients that have it are still asked.
   * @throws TypeError for parameters that the specification does not have, and for tool calls that are not answered in turn.
   */
  message(params: CreateMessageParams): Question<CreateMessageResult>
}

/**
 * Builders of questions to the client's model (2026-07-28 client/sampling).
 *
 * @deprecated By the specification, with 2026-07-28: call a model's own API. Clients that have it are still asked.
 */
export const Sample: SampleBuilders = {
  message: (params) => {
    const given = readParams(params)
    const tools = given.tools !== undefined && given.toolChoice?.mode !== 'none'
    return {
      [BUILT]: 'question',
      method: METHOD,
      params: given as unknown as Json,
      requires: { sampling: needsOf(given) },
      // Whether a model may ask for tools is all that decides which answers fit.
      fingerprint: tools ? `${METHOD} tools` : METHOD,
      read: (response) => readResult(response, tools),
    }
  },
}

const METHOD = 'sampling/createMessage'
const OWNER = 'Sample.message'

function needsOf({ tools, includeContext = 'none' }: CreateMessageParams): ClientCapabilities {
  return {
    ...(tools === undefined ? {} : { tools: {} }),
    ...(includeContext === 'none' ? {} : { context: {} }),
  }
}

function readParams(params: unknown): CreateMessageParams {
  const fields = paramFields()
  assertOptions(OWNER, params, Object.keys(fields))
  const given = toJson(params)
  const errors = errorsOf(new FieldSchema(fields, { owner: OWNER, side: 'input' }, 'params').check(given))
  if (errors.length > 0) throw new TypeError(`${OWNER}: ${errors.join('; ')}.`)
  const read = given as unknown as CreateMessageParams
  if (read.toolChoice !== undefined && read.tools === undefined) {
    throw new TypeError(`${OWNER}: 'toolChoice' needs 'tools' to choose from. Give them, or leave it out.`)
  }
  assertTurns(read.messages, OWNER)
  return read
}

/** A copy that is JSON and nothing else, so that what is sent is what was checked. */
function toJson(params: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(params))
  } catch (cause) {
    throw new TypeError(`${OWNER}: the parameters hold something that is not JSON.`, { cause })
  }
}

/** The members of the parameters, but for what is inside of content. */
function paramFields(): Fields {
  const role = field.string({ in: ['user', 'assistant'], required: true })
  const priority = field.number({ minimum: 0, maximum: 1 })
  const preferences = { costPriority: priority, speedPriority: priority, intelligencePriority: priority }
  const tool = { name: field.string({ required: true }), inputSchema: field.map(undefined, { required: true }) }
  return {
    messages: field.array(field.map({ role }), { required: true, minLength: 1 }),
    maxTokens: field.integer({ required: true, minimum: 1 }),
    systemPrompt: field.string(),
    modelPreferences: field.map({ hints: field.array(field.map({ name: field.string() })), ...preferences }),
    includeContext: field.string({ in: ['none', 'thisServer', 'allServers'] }),
    temperature: field.number(),
    stopSequences: field.array(field.string()),
    metadata: field.map(),
    tools: field.array(field.map(tool), { minLength: 1 }),
    toolChoice: field.map({ mode: field.string({ in: ['auto', 'required', 'none'] }) }),
  }
}

function readResult(response: unknown, tools: boolean): Answer<CreateMessageResult> | undefined {
  if (!isRecord(response)) return undefined
  const { role, content, model, stopReason } = response
  if ((role !== 'assistant' && role !== 'user') || typeof model !== 'string') return undefined
  if (stopReason !== undefined && typeof stopReason !== 'string') return undefined
  const blocks = new BlockCheck()
  const types = tools ? (['text', 'image', 'audio', 'tool_use'] as const) : (['text', 'image', 'audio'] as const)
  if (blocksOf(content).some((block) => blocks.problemOf(block, types) !== undefined)) return undefined
  const said = { role, content, model } as CreateMessageResult
  return { action: 'accept', content: stopReason === undefined ? said : { ...said, stopReason } }
}
