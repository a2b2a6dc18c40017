import { collectProblems, createRun, type Run, settle } from './field-check.js'
import { FieldRecord } from './field-entries.js'
import { isRecord } from './json-value.js'
import { LazyJson } from './schema-lazy.js'
import {
  type Checked,
  type JsonSchema,
  type Outcome,
  type Schema,
  type SchemaPlace,
  toChecked,
} from './schema-model.js'
import { problemText } from './schema-text.js'

/** The schema of a whole object that is described by fields. */
export class FieldSchema implements Schema {
  readonly json: JsonSchema
  readonly #record: FieldRecord
  readonly #root: string

  /** @throws TypeError when something in the record is not a field, or cannot be written as JSON Schema. */
  constructor(fields: Readonly<Record<string, unknown>>, at: Omit<SchemaPlace, 'pointer'>, root: string) {
    const record = new FieldRecord(fields, at.owner)
    this.json = record.eager ? record.json({ ...at, pointer: '' }) : new LazyJson(record, at)
    this.#record = record
    this.#root = root
  }

  check(value: unknown): Checked | Promise<Checked> {
    if (!isRecord(value)) {
      return toChecked({ ok: false, problems: [{ path: '', text: problemText.type('an object', value) }] }, this.#root)
    }
    const misfit = this.#record.findMisfit(value)
    if (misfit === undefined) return { ok: true, value }
    const run = createRun()
    // What is declared before it is known to be right.
    const parsed = this.#record.check(value, run, misfit)
    return run.pending.length > 0 ? settle(run).then(() => this.#conclude(run, parsed)) : this.#conclude(run, parsed)
  }

  #conclude(run: Run, value: unknown): Checked {
    if (run.slots.length === 0) return { ok: true, value }
    const problems = collectProblems(run)
    const outcome: Outcome = problems.length === 0 ? { ok: true, value } : { ok: false, problems }
    return toChecked(outcome, this.#root)
  }
}
