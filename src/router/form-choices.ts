import type { Json } from '../protocol/model.js'
import { isRecord } from './json-value.js'

/** The choices of one member of a form. */
export interface Choices {
  readonly values: readonly string[]
  /** What users read, one for each value. */
  readonly titles: readonly string[] | undefined
  /** Titles in the form that came first, which is sent as it was given (2025-11-25 schema, LegacyTitledEnumSchema). */
  readonly names: readonly string[] | undefined
}

const FORMS = ['enum', 'const', 'oneOf', 'anyOf'] as const

/** The choices that a JSON Schema gives in any of the ways there are; undefined when it does not give choices of text. */
export function readChoices(schema: unknown): Choices | undefined {
  if (!isRecord(schema)) return undefined
  const [form, ...others] = FORMS.filter((keyword) => Object.hasOwn(schema, keyword))
  if (form === undefined || others.length > 0) return undefined
  const value = schema[form]
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (form === 'enum') return isTexts(list) ? named(list, schema['enumNames']) : undefined
  if (form === 'const') {
    return typeof value === 'string' ? { values: [value], titles: undefined, names: undefined } : undefined
  }
  return list.length > 0 && list.every(isAlternative) ? titled(list) : undefined
}

/** Choices as the specification writes them; `alternatives` is the keyword for those with titles. */
export function writeChoices({ values, titles, names }: Choices, alternatives: 'oneOf' | 'anyOf'): Json {
  if (titles !== undefined)
    return { [alternatives]: values.map((value, index) => ({ const: value, title: titles[index] })) }
  return names === undefined ? { enum: values } : { enum: values, enumNames: names }
}

function named(values: readonly string[], names: unknown): Choices | undefined {
  if (names === undefined) return { values, titles: undefined, names: undefined }
  if (!Array.isArray(names) || !isTexts(names) || names.length !== values.length) return undefined
  return { values, titles: undefined, names }
}

interface Alternative {
  readonly const: string
  readonly title?: string
}

function isAlternative(value: unknown): value is Alternative {
  if (!isRecord(value) || typeof value['const'] !== 'string') return false
  const { const: _const, title, type, ...others } = value
  const isText = type === undefined || type === 'string'
  return isText && (title === undefined || typeof title === 'string') && Object.keys(others).length === 0
}

function titled(list: readonly Alternative[]): Choices {
  const values = list.map((item) => item.const)
  const hasTitles = list.some((item) => item.title !== undefined)
  return { values, titles: hasTitles ? list.map((item) => item.title ?? item.const) : undefined, names: undefined }
}

function isTexts(list: readonly unknown[]): list is readonly string[] {
  return list.length > 0 && list.every((item) => typeof item === 'string')
}
