import { isBase64 } from '../base64.js'
import type { Json } from '../protocol/model.js'
import { field } from './field.js'
import { FieldSchema } from './field-schema.js'
import type { Fields } from './field-types.js'
import { isRecord } from './json-value.js'
import type { Checked, Schema } from './schema-model.js'

/** What tools answer with, which stands inside a result. */
const RESULT_BLOCKS = ['text', 'image', 'audio', 'resource_link', 'resource'] as const
type BlockType = (typeof RESULT_BLOCKS)[number] | 'tool_use' | 'tool_result'

/** Checks blocks of content by their type (2026-07-28 schema, SamplingMessageContentBlock). */
export class BlockCheck {
  readonly #schemas = new Map<string, Schema>()

  /** What is wrong with a block, in words; undefined when it is one of the types and right. */
  problemOf(block: unknown, types: readonly BlockType[]): string | undefined {
    if (!isRecord(block)) return 'must be an object with a type'
    const type = types.find((name) => name === block['type'])
    if (type === undefined) return `must have a type that is one of ${types.join(', ')}`
    const errors = errorsOf(this.#schemaOf(type).check(block))
    if (errors.length > 0) return `is no ${type} block: ${errors.join('; ')}`
    return type === 'tool_result' ? this.#problemInside(block) : undefined
  }

  #problemInside(result: Json): string | undefined {
    for (const block of result['content'] as readonly unknown[]) {
      const problem = this.problemOf(block, RESULT_BLOCKS)
      if (problem !== undefined) return `has a block in its content that ${problem}`
    }
    return undefined
  }

  #schemaOf(type: BlockType): Schema {
    const known = this.#schemas.get(type)
    if (known !== undefined) return known
    const schema = new FieldSchema(membersOf(type), { owner: type, side: 'input' }, 'block')
    this.#schemas.set(type, schema)
    return schema
  }
}

function membersOf(type: BlockType): Fields {
  const word = field.string({ required: true })
  switch (type) {
    case 'text':
      return { text: word }
    case 'image':
    case 'audio':
      return { data: field.string({ required: true, validate: isBase64, message: 'must be Base64' }), mimeType: word }
    case 'resource_link':
      return { uri: word, name: word }
    case 'resource':
      return { resource: field.map({ uri: word }, { required: true }) }
    case 'tool_use':
      return { id: word, name: word, input: field.map(undefined, { required: true }) }
    case 'tool_result':
      return {
        toolUseId: word,
        content: field.array(field.map(), { required: true }),
        isError: field.boolean(),
      }
  }
}

/** The errors of a check by fields, which answer at once where none of them waits. */
export function errorsOf(checked: Checked | Promise<Checked>): readonly string[] {
  const { ok, errors } = checked as Checked & { readonly errors: readonly string[] }
  return ok ? [] : errors
}

/** A message's content is one block or a list of blocks. */
export function blocksOf(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [content]
}
