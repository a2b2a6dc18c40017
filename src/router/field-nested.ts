import { type FieldSpec, MAX_PROBLEMS, place, prefixSlots, type Run } from './field-check.js'
import { checkEntries, entriesJson, findFieldSpec, findMisfit, toEntries } from './field-entries.js'
import { arrayConstraints } from './field-rules.js'
import { assertOptions, COMMON_OPTIONS, createField, type SharedOptions, typeKeyword } from './field-spec.js'
import type { Field, Fields, LengthOptions } from './field-types.js'
import { isRecord } from './json-value.js'
import { indexSegment } from './schema-text.js'

const ARRAY_OPTIONS = [...COMMON_OPTIONS, 'length', 'minLength', 'maxLength', 'uniqueItems'] as const

/** Behind `field.array`. */
export function arrayField(
  of: Field,
  options: SharedOptions<never[]> & LengthOptions & { readonly uniqueItems?: boolean } = {},
): Field<never, never> {
  const owner = 'field.array'
  assertOptions(owner, options, ARRAY_OPTIONS)
  const item = toMember(of, owner)
  const { rules, keywords } = arrayConstraints(options, owner)
  const { fits } = item
  return createField<never[]>({
    owner,
    noun: 'a list',
    options,
    isType: (value): value is never[] => Array.isArray(value),
    rules,
    inside: {
      fits: fits === undefined ? undefined : (items: readonly unknown[]) => items.every(fits),
      check: (items, run) => checkItems(item, items, run),
      changes: item.changes,
    },
    json: (at) => ({
      type: typeKeyword('array', options),
      items: item.json({ ...at, pointer: `${at.pointer}/items` }),
      ...keywords,
    }),
  })
}

function checkItems(item: FieldSpec, items: readonly unknown[], run: Run): unknown {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length && run.found < MAX_PROBLEMS; index++) {
    const given = items[index]
    if (item.fits?.(given) === true) continue
    const from = run.slots.length
    const next = item.check(given, run)
    prefixSlots(run, from, indexSegment(index))
    if (next === given) continue
    const changed = copy ?? [...items]
    copy = changed
    place(next, run, (parsed) => {
      changed[index] = parsed
    })
  }
  return copy ?? items
}

type Member = Record<string, never>

/** Behind `field.map`. */
export function mapField(fields?: Fields, options: SharedOptions<Member> = {}): Field<never, never> {
  const owner = 'field.map'
  assertOptions(owner, options, COMMON_OPTIONS)
  const noun = 'an object'
  if (fields === undefined) {
    return createField<Member>({
      owner,
      noun,
      options,
      isType: isObject,
      json: () => ({ type: typeKeyword('object', options) }),
    })
  }
  const entries = toEntries(fields, owner)
  const quick = entries.every((entry) => entry.fits !== undefined)
  return createField<Member>({
    owner,
    noun,
    options,
    isType: isObject,
    inside: {
      fits: quick ? (value) => findMisfit(entries, value) < 0 : undefined,
      check: (value, run) => checkEntries(entries, value, run),
      changes: entries.some(({ spec }) => spec.changes || spec.initial !== undefined),
    },
    json: (at) => ({ ...entriesJson(entries, at), type: typeKeyword('object', options) }),
  })
}

/** The field of an item or member. @throws TypeError when it is none, or carries what can never apply. */
export function toMember(value: unknown, owner: string): FieldSpec {
  const spec = findFieldSpec(value)
  if (spec === undefined) throw new TypeError(`${owner}: expects a field, such as field.string().`)
  if (spec.initial !== undefined) {
    throw new TypeError(`${owner}: 'default' never applies to what is inside. Give it to ${owner} itself.`)
  }
  return spec
}

function isObject(value: unknown): value is Member {
  return isRecord(value)
}
