import { type FieldSpec, type Inside, Later, MAX_PROBLEMS, placeLater, prefixSlots, type Run } from './field-check.js'
import { FieldRecord, findFieldSpec } from './field-entries.js'
import { BuiltField, typeKeyword } from './field-spec.js'
import type { Field, FieldOptions, Fields, LengthOptions } from './field-types.js'
import type { SchemaPlace } from './schema-model.js'
import { indexSegment } from './schema-text.js'

/** Behind `field.array`. */
export function arrayField(
  of: Field,
  options: FieldOptions & LengthOptions & { readonly uniqueItems?: boolean } = {},
): Field<never, never> {
  return new BuiltField('array', options, new Items(toMember(of, 'field.array')))
}

/** The items of a list, which are all alike. */
class Items implements Inside<readonly unknown[]> {
  readonly noun: string | undefined = undefined
  readonly quick: boolean
  readonly changes: boolean
  readonly eager: boolean
  readonly item: FieldSpec

  constructor(item: FieldSpec) {
    this.quick = item.quick
    this.changes = item.changes
    this.eager = item.eager
    this.item = item
  }

  fits(items: readonly unknown[]): boolean {
    for (let index = 0; index < items.length; index++) if (!this.item.fits(items[index])) return false
    return true
  }

  check(items: readonly unknown[], run: Run): unknown {
    const { item } = this
    let copy: unknown[] | undefined
    for (let index = 0; index < items.length && run.found < MAX_PROBLEMS; index++) {
      const given = items[index]
      if (item.fits(given)) continue
      const from = run.slots.length
      const next = item.check(given, run)
      prefixSlots(run, from, indexSegment(index))
      if (next === given) continue
      copy ??= [...items]
      if (next instanceof Later) placeLater(next, copy, { key: index, run })
      else copy[index] = next
    }
    return copy ?? items
  }

  json(at: SchemaPlace, nullable: boolean): Record<string, unknown> {
    const items = this.item.json({ ...at, pointer: `${at.pointer}/items` })
    return { type: typeKeyword('array', nullable), items }
  }
}

/** Behind `field.map`. */
export function mapField(fields?: Fields, options: FieldOptions = {}): Field<never, never> {
  return new BuiltField('map', options, fields === undefined ? undefined : new Members(fields))
}

/** The members of an object. */
class Members implements Inside<Record<string, unknown>> {
  readonly noun: string | undefined = undefined
  readonly quick: boolean
  readonly changes: boolean
  readonly eager: boolean
  readonly record: FieldRecord

  constructor(fields: Fields) {
    this.record = new FieldRecord(fields, 'field.map')
    this.quick = this.record.quick
    this.changes = this.record.changes
    this.eager = this.record.eager
  }

  fits(value: Record<string, unknown>): boolean {
    return this.record.findMisfit(value) === undefined
  }

  check(value: Record<string, unknown>, run: Run): unknown {
    return this.record.check(value, run)
  }

  json(at: SchemaPlace, nullable: boolean): Record<string, unknown> {
    return { ...this.record.json(at), type: typeKeyword('object', nullable) }
  }
}

/** The field of an item or member. @throws TypeError when it is none, or carries what can never apply. */
export function toMember(value: unknown, owner: string): FieldSpec {
  const spec = findFieldSpec(value)
  if (spec === undefined) throw new TypeError(`${owner}: expects a field, such as field.string().`)
  if (spec.completed !== undefined) {
    throw new TypeError(`${owner}: 'default' never applies to what is inside. Give it to ${owner} itself.`)
  }
  return spec
}
