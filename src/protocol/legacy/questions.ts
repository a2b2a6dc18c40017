import { isObject } from '../jsonrpc.js'
import type { Json } from '../model.js'
import type { SessionVersion } from '../versions.js'
import { ELICITATION_SINCE, RICH_FORMS_SINCE, SAMPLING_TOOLS_SINCE, URL_ELICITATION_SINCE } from './gates.js'
import type { Projection } from './project.js'

/** Parameters of questions to the client as one version knows them; undefined for a question that it does not have. */
export class QuestionEncoding {
  readonly #version: SessionVersion
  readonly #projection: Projection

  constructor(version: SessionVersion, projection: Projection) {
    this.#version = version
    this.#projection = projection
  }

  encode(method: string, params: Json, id: string): Json | undefined {
    switch (method) {
      case 'elicitation/create':
        return params['mode'] === 'url' ? this.#url(params, id) : this.#form(params)
      case 'sampling/createMessage':
        return this.#sampling(params)
      case 'roots/list':
        return params
      default:
        return undefined
    }
  }

  #url(params: Json, id: string): Json | undefined {
    return this.#version < URL_ELICITATION_SINCE ? undefined : { ...params, elicitationId: id }
  }

  #form(params: Json): Json | undefined {
    if (this.#version < ELICITATION_SINCE) return undefined
    if (this.#version >= RICH_FORMS_SINCE) return params
    const { mode: _mode, requestedSchema, ...rest } = params
    const schema = plainForm(requestedSchema as Json)
    return schema && { ...rest, requestedSchema: schema }
  }

  #sampling(params: Json): Json | undefined {
    const { messages, tools, toolChoice, ...rest } = params
    const told = (messages as readonly Json[]).map((message) => this.#message(message))
    if (told.includes(undefined)) return undefined
    if (this.#version < SAMPLING_TOOLS_SINCE) return { ...rest, messages: told }
    const specs = Array.isArray(tools) ? tools.map((tool: Json) => this.#projection.project('tool', tool)) : undefined
    return {
      ...rest,
      messages: told,
      ...(specs === undefined ? {} : { tools: specs }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
    }
  }

  #message(message: Json): Json | undefined {
    const { content } = message
    if (this.#version >= SAMPLING_TOOLS_SINCE) {
      const told = Array.isArray(content)
        ? content.map((block: Json) => this.#block(block))
        : this.#block(content as Json)
      return { ...message, content: told }
    }
    // One block to a message, and none that deals with tools.
    const [block, ...others]: readonly Json[] = Array.isArray(content) ? content : [content as Json]
    if (block === undefined || others.length > 0 || isToolBlock(block)) return undefined
    return { role: message['role'], content: this.#block(block) }
  }

  #block(block: Json): Json {
    if (block['type'] !== 'tool_result') return this.#projection.project('content', block)
    const { structuredContent, content, ...rest } = block
    const told = (content as readonly Json[]).map((inner) => this.#projection.project('content', inner))
    return isObject(structuredContent) ? { ...rest, content: told, structuredContent } : { ...rest, content: told }
  }
}

function isToolBlock(block: Json): boolean {
  return block['type'] === 'tool_use' || block['type'] === 'tool_result'
}

/** A form as it was before there were lists of choices, titles beside their values, and defaults but for booleans. */
function plainForm(schema: Json): Json | undefined {
  const properties: [string, Json][] = []
  for (const [name, property] of Object.entries(schema['properties'] as Readonly<Record<string, Json>>)) {
    if (property['type'] === 'array') return undefined
    properties.push([name, plainMember(property)])
  }
  return { ...schema, properties: Object.fromEntries(properties) }
}

function plainMember(property: Json): Json {
  const { default: initial, oneOf, ...rest } = property
  const choices = Array.isArray(oneOf) ? (oneOf as readonly Json[]) : []
  return {
    ...rest,
    ...(property['type'] === 'boolean' && initial !== undefined ? { default: initial } : {}),
    ...(choices.length > 0
      ? { enum: choices.map((choice) => choice['const']), enumNames: choices.map((choice) => choice['title']) }
      : {}),
  }
}
