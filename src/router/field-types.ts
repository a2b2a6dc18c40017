import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { FieldSpec } from './field-check.js'
import type { FormatName } from './field-format.js'
import type { JsonSchema } from './schema-model.js'

/**
 * One member of an input, output or form, made by `field.string()` and its siblings.
 * `T` is the type of the value, `Present` whether the key is always there (required or defaulted).
 */
export interface Field<T = unknown, Present extends boolean = boolean> {
  /** Carries the types only; there is nothing here at run time. */
  readonly '~types'?: { readonly value: T; readonly present: Present } | undefined
  /** How the framework checks and advertises the field. */
  /** @internal */
  readonly '~field': FieldSpec
}

/** A record of fields by name. */
export type Fields = { readonly [name: string]: Field }

/** A declaration of an input or output: a record of fields, or any Standard Schema that gives its JSON Schema. */
export type Shape = Fields | StandardSchemaV1

type Simplify<T> = { [K in keyof T]: T[K] } & {}
type ValueOf<F> = F extends Field<infer T, boolean> ? T : never
type PresentKey<F extends Fields> = { [K in keyof F]: F[K] extends Field<unknown, true> ? K : never }[keyof F]

/** The object that a record of fields describes. */
export type InferFields<F extends Fields> = Simplify<
  { -readonly [K in PresentKey<F>]: ValueOf<F[K]> } & {
    -readonly [K in Exclude<keyof F, PresentKey<F>>]?: ValueOf<F[K]>
  }
>

/** What a handler receives for an input declaration: the parsed side. */
export type Received<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<S>
  : S extends Fields
    ? InferFields<S>
    : NonNullable<unknown>

/** What a handler gives back for an output declaration: the side before parsing. */
export type Given<S> = S extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<S>
  : S extends Fields
    ? InferFields<S>
    : never

/** What a custom check answers: `true` or nothing when the value is fine, `false` or the reason (`must be even`) when not. */
export type Verdict = boolean | string | undefined

/** Options that every field has. */
export interface CommonOptions<T> {
  /** The key must be there. Default false. */
  readonly required?: boolean
  /** Used when the key is missing, and advertised. Not together with `required`. */
  readonly default?: T | null
  /** `null` is a value, too. Default false. */
  readonly nullable?: boolean
  /** Display name. */
  readonly title?: string
  readonly description?: string
  /** Replaces all of the field's own errors; said after the path, such as `must be a slug`. */
  readonly message?: string
  /** A check of your own, after the type is known to be right; may be asynchronous. */
  readonly validate?: (value: T) => Verdict | Promise<Verdict>
}

/** The options of all kinds of fields, as the builders' shared code sees them. */
export interface FieldOptions extends Omit<CommonOptions<never>, 'default'> {
  readonly default?: unknown
  readonly header?: string
}

interface ChoiceOptions<T> extends CommonOptions<T> {
  /** The allowed values; they become a literal union. */
  readonly in?: readonly T[]
  /** Values that are refused (enforced, not advertised). */
  readonly exclusion?: readonly T[]
}

interface MirrorOptions {
  /** Clients repeat the value in the HTTP header `Mcp-Param-{header}`. Not for secrets. */
  readonly header?: string
}

/** Options of what has a length. */
export interface LengthOptions {
  /** Exact length. */
  readonly length?: number
  readonly minLength?: number
  readonly maxLength?: number
}

/** Options of `field.string`. Lengths count code points. */
export interface StringOptions extends ChoiceOptions<string>, MirrorOptions, LengthOptions {
  /** A regular expression that must match somewhere; read in Unicode mode. A `RegExp` may not carry other flags. */
  readonly pattern?: RegExp | string
  readonly format?: FormatName
  /** What a user reads in place of a value of `in`, by the value; one that has no title is read as it is. */
  readonly titles?: Readonly<Record<string, string>>
}

/** Options of `field.number`. */
export interface NumberOptions extends ChoiceOptions<number> {
  /** Inclusive bound. */
  readonly minimum?: number
  /** Inclusive bound. */
  readonly maximum?: number
  /** Exclusive bound. */
  readonly greaterThan?: number
  /** Exclusive bound. */
  readonly lessThan?: number
}

/** Options of `field.integer`. */
export interface IntegerOptions extends NumberOptions, MirrorOptions {}

/** Options of `field.boolean`. */
export interface BooleanOptions extends CommonOptions<boolean>, MirrorOptions {}

/** Options of `field.array`; lengths count items. */
export interface ArrayOptions<T> extends CommonOptions<T[]>, LengthOptions {
  /** No two items may be equal. Default false. */
  readonly uniqueItems?: boolean
}

/** Options of `field.map` with fields; a default may leave out what the nested defaults fill in. */
export interface MapOptions<T> extends Omit<CommonOptions<T>, 'default'> {
  readonly default?: Partial<T> | null
}

type IsPresent<O> = O extends { readonly required: true }
  ? true
  : O extends { readonly default: NonNullable<unknown> | null }
    ? true
    : false
type OrNull<T, O> = O extends { readonly nullable: true } ? T | null : T
type Literal<T, O> = O extends { readonly in: readonly (infer L)[] } ? L : T
type Made<T, O> = Field<OrNull<T, O>, IsPresent<O>>
/** A misspelt option is a compile error although the options are generic. */
type Exact<Allowed, O> = O & { readonly [K in Exclude<keyof O, keyof Allowed>]: never }
type MemberValue<M extends readonly Field[]> = ValueOf<M[number]>

/** The builders behind `field`. */
export interface FieldBuilders {
  /** Text. @throws TypeError when the options contradict each other, as do all builders. */
  string<const O extends StringOptions>(options?: Exact<StringOptions, O>): Made<Literal<string, O>, O>
  /** A whole number; `1.0` is one. */
  integer<const O extends IntegerOptions>(options?: Exact<IntegerOptions, O>): Made<Literal<number, O>, O>
  /** A finite number. */
  number<const O extends NumberOptions>(options?: Exact<NumberOptions, O>): Made<Literal<number, O>, O>
  /** True or false. */
  boolean<const O extends BooleanOptions>(options?: Exact<BooleanOptions, O>): Made<boolean, O>
  /** A list whose items are all like `of`. */
  array<T, const O extends ArrayOptions<T>>(of: Field<T>, options?: Exact<ArrayOptions<T>, O>): Made<T[], O>
  /** An object with the given fields; other keys pass through untouched. Without fields: any object. */
  map<const O extends CommonOptions<Record<string, unknown>>>(
    fields?: undefined,
    options?: Exact<CommonOptions<Record<string, unknown>>, O>,
  ): Made<Record<string, unknown>, O>
  /** An object with the given fields. */
  map<F extends Fields, const O extends MapOptions<InferFields<F>>>(
    fields: F,
    options?: Exact<MapOptions<InferFields<F>>, O>,
  ): Made<InferFields<F>, O>
  /** A value that is like one of the members; the first that fits is taken. */
  union<const M extends readonly [Field, Field, ...Field[]]>(...members: M): Field<MemberValue<M>, false>
  /** The same with options. */
  union<const M extends readonly [Field, Field, ...Field[]], const O extends CommonOptions<MemberValue<M>>>(
    members: M,
    options?: Exact<CommonOptions<MemberValue<M>>, O>,
  ): Made<MemberValue<M>, O>
  /** A reusable schema: a Standard Schema that gives its JSON Schema, or `{ jsonSchema }`, which is enforced whole. */
  schema<S extends StandardSchemaV1, const O extends CommonOptions<StandardSchemaV1.InferOutput<S>>>(
    shape: S,
    options?: Exact<CommonOptions<StandardSchemaV1.InferOutput<S>>, O>,
  ): Made<StandardSchemaV1.InferOutput<S>, O>
  /** A plain JSON Schema, enforced whole. */
  schema<T = unknown, const O extends CommonOptions<T> = Record<never, never>>(
    shape: { readonly jsonSchema: JsonSchema },
    options?: Exact<CommonOptions<T>, O>,
  ): Made<T, O>
}
