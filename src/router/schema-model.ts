// What every kind of schema (fields, Standard Schema, plain JSON Schema) has in common.

/** A JSON Schema object as it goes over the wire. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** The outcome of a check: the parsed value, or every error as one sentence that begins with the path. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly string[] }

/** A schema that is ready to be advertised and enforced. */
export interface Schema {
  /** What clients are told. */
  readonly json: JsonSchema
  /** Checks and parses a value. A promise only when the check has to wait, so callers await promises only. */
  check(value: unknown): Checked | Promise<Checked>
}

/** One thing wrong with a value. `path` is relative (`.filters.min_price`, `[2]`), `text` follows it (`must be a string`, `: a sentence`). */
export interface Problem {
  readonly path: string
  readonly text: string
}

/** The outcome of a check before its paths are put into sentences. */
export type Outcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Checks a value; answers with a promise only when it has to wait. */
export type Validate = (value: unknown) => Outcome | Promise<Outcome>

/** Tells what is wrong with a value; nothing when it is fine. */
export type FindProblems = (value: unknown) => readonly Problem[]

/** Where a JSON Schema is going to stand: whose it is, which side is told, and its place in the whole document. */
export interface SchemaPlace {
  /** The owner as messages name it, such as `tool 'greet'`. */
  readonly owner: string
  /** `input`: what a caller may send. `output`: what remains after parsing. */
  readonly side: 'input' | 'output'
  /** JSON pointer from the root of the document, `''` for the root itself. */
  readonly pointer: string
}

/** Makes a `Schema` of a validator; `root` names the whole value in messages, such as `arguments`. */
export function toSchema(json: JsonSchema, validate: Validate, root: string): Schema {
  return {
    json,
    check(value) {
      const outcome = validate(value)
      return outcome instanceof Promise ? outcome.then((settled) => toChecked(settled, root)) : toChecked(outcome, root)
    },
  }
}

/** Puts an outcome into sentences; `root` names the whole value. */
export function toChecked(outcome: Outcome, root: string): Checked {
  if (outcome.ok) return outcome
  return { ok: false, errors: outcome.problems.map((problem) => toSentence(problem, root)) }
}

function toSentence({ path, text }: Problem, root: string): string {
  const subject = path.startsWith('.') ? path.slice(1) : root + path
  return text.startsWith(':') ? subject + text : `${subject} ${text}`
}
