import type { SchemaPlace } from './schema-model.js'

/** Writes the parts of an object's schema. */
interface ObjectWriter {
  properties(at: SchemaPlace): Record<string, unknown>
  requiredKeys(): readonly string[] | undefined
}

/**
 * The JSON Schema of an object whose `properties` are written when somebody reads them: most processes register far more than
 * they list. Only for what holds no `x-mcp-header` and cannot fail to be written.
 */
export class LazyJson {
  [keyword: string]: unknown
  readonly type = 'object'
  readonly #writer: ObjectWriter
  readonly #at: Omit<SchemaPlace, 'pointer'>
  #properties: Record<string, unknown> | undefined

  constructor(writer: ObjectWriter, at: Omit<SchemaPlace, 'pointer'>) {
    this.#writer = writer
    this.#at = at
    Object.defineProperty(this, 'properties', WRITTEN_WHEN_READ)
    const required = writer.requiredKeys()
    if (required !== undefined) this['required'] = required
  }

  /** What stands under `properties`. */
  static read(json: LazyJson): Record<string, unknown> {
    json.#properties ??= json.#writer.properties({ ...json.#at, pointer: '' })
    return json.#properties
  }
}

// An own accessor, not one of the class: whoever copies, compares or serialises the schema sees a plain member.
const WRITTEN_WHEN_READ: PropertyDescriptor & ThisType<LazyJson> = {
  enumerable: true,
  get() {
    return LazyJson.read(this)
  },
}
