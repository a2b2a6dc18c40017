import { createHash } from 'node:crypto'
import { seed } from './seed.js'
import { openSqlite, type Sqlite } from './sqlite.js'

export const STATUSES = ['draft', 'active', 'archived'] as const
export type Status = (typeof STATUSES)[number]

export interface User {
  readonly id: string
  readonly name: string
  readonly plan: 'basic' | 'ultra'
  readonly suspended: boolean
  /** Whose studies they see. */
  readonly accountId: number
}

export interface Study {
  readonly id: number
  readonly title: string
  readonly status: Status
  readonly category: string
  readonly price: number
  readonly goal: string
}

export interface Question {
  readonly id: number
  readonly studyId: number
  readonly label: string
  readonly description: string
}

/** What studies are looked for by; what is left out does not count. */
export interface Search {
  readonly query: string
  readonly limit: number
  readonly status?: Status
  /** All of them. */
  readonly tags?: readonly string[]
  readonly filters?: { readonly category?: string; readonly min_price?: number }
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS users (
    id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (plan IN ('basic', 'ultra')),
    suspended INTEGER NOT NULL DEFAULT 0,
    account_id INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS studies (
    id INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    category TEXT NOT NULL,
    price REAL NOT NULL,
    goal TEXT NOT NULL,
    cover BLOB
  );
  CREATE INDEX IF NOT EXISTS studies_by_account ON studies (account_id, id);
  CREATE TABLE IF NOT EXISTS study_tags (
    study_id INTEGER NOT NULL REFERENCES studies (id),
    tag TEXT NOT NULL,
    PRIMARY KEY (study_id, tag)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS questions (
    id INTEGER PRIMARY KEY,
    study_id INTEGER NOT NULL REFERENCES studies (id),
    label TEXT NOT NULL,
    description TEXT NOT NULL,
    UNIQUE (study_id, label)
  );
`

const STUDY = 'id, title, status, category, price, goal'
const QUESTION = 'id, study_id AS studyId, label, description'

const MATCHING = `
  FROM studies
  WHERE account_id = @accountId
    AND (instr(lower(title), lower(@query)) > 0 OR instr(lower(goal), lower(@query)) > 0)
    AND (@status IS NULL OR status = @status)
    AND (@category IS NULL OR category = @category)
    AND (@minPrice IS NULL OR price >= @minPrice)
    AND NOT EXISTS (
      SELECT 1 FROM json_each(@tags) AS wanted
      WHERE wanted.value NOT IN (SELECT tag FROM study_tags WHERE study_id = studies.id)
    )
`
// A prefix of what is written, not of the number: 1 is followed by 10 and by 100.
const STARTING = 'FROM studies WHERE account_id = ? AND substr(CAST(id AS TEXT), 1, length(?)) = ?'

/** Studies and their questions. An account sees its own alone. */
export class StudiesDatabase {
  readonly #sqlite: Sqlite

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite
  }

  /** Who holds the token. The database has only its hash. */
  userOf(token: string): User | undefined {
    const row = this.#sqlite
      .prepare('SELECT id, name, plan, suspended, account_id AS accountId FROM users WHERE token_hash = ?')
      .get(hashOf(token)) as (Omit<User, 'suspended'> & { suspended: number }) | undefined
    return row && { ...row, suspended: row.suspended === 1 }
  }

  study(accountId: number, id: number): Study | undefined {
    const found = this.#sqlite.prepare(`SELECT ${STUDY} FROM studies WHERE account_id = ? AND id = ?`)
    return found.get(accountId, id) as Study | undefined
  }

  /** The bytes of a PNG. */
  cover(accountId: number, id: number): Uint8Array | undefined {
    const found = this.#sqlite.prepare('SELECT cover FROM studies WHERE account_id = ? AND id = ?')
    const row = found.get(accountId, id) as { cover: Uint8Array | null } | undefined
    return row?.cover ?? undefined
  }

  search(accountId: number, search: Search): { readonly total: number; readonly studies: readonly Study[] } {
    const { query, limit, status = null, tags = [], filters = {} } = search
    const { category = null, min_price: minPrice = null } = filters
    const values = { accountId, query, status, category, minPrice, tags: JSON.stringify(tags), limit }
    const { total } = this.#sqlite.prepare(`SELECT count(*) AS total ${MATCHING}`).get(values) as { total: number }
    const found = this.#sqlite.prepare(`SELECT ${STUDY} ${MATCHING} ORDER BY id LIMIT @limit`)
    return { total, studies: found.all(values) as Study[] }
  }

  /** Studies in the order of their ids, from behind one on. */
  studiesAfter(accountId: number, id: number, limit: number): readonly Study[] {
    const found = this.#sqlite.prepare(
      `SELECT ${STUDY} FROM studies WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`,
    )
    return found.all(accountId, id, limit) as Study[]
  }

  /** The first hundred ids that begin so, and how many there are. */
  idsStartingWith(accountId: number, start: string): { readonly values: readonly string[]; readonly total: number } {
    const ids = this.#sqlite.prepare(`SELECT CAST(id AS TEXT) AS id ${STARTING} ORDER BY studies.id LIMIT 100`)
    const rows = ids.all(accountId, start, start) as { id: string }[]
    const count = this.#sqlite.prepare(`SELECT count(*) AS total ${STARTING}`)
    const { total } = count.get(accountId, start, start) as { total: number }
    return { values: rows.map(({ id }) => id), total }
  }

  /** Which of the studies are the account's, in one query. */
  ownedOf(accountId: number, ids: readonly number[]): ReadonlySet<number> {
    const owned = this.#sqlite.prepare(
      'SELECT id FROM studies WHERE account_id = ? AND id IN (SELECT value FROM json_each(?))',
    )
    return new Set((owned.all(accountId, JSON.stringify(ids)) as { id: number }[]).map(({ id }) => id))
  }

  questions(studyId: number): readonly Question[] {
    return this.#sqlite
      .prepare(`SELECT ${QUESTION} FROM questions WHERE study_id = ? ORDER BY id`)
      .all(studyId) as Question[]
  }

  question(accountId: number, id: number): Question | undefined {
    const found = this.#sqlite.prepare(
      `SELECT ${QUESTION} FROM questions WHERE id = ? AND study_id IN (SELECT id FROM studies WHERE account_id = ?)`,
    )
    return found.get(id, accountId) as Question | undefined
  }

  /** Undefined where the study is not the account's, is archived, or has a question of this label. */
  addQuestion(accountId: number, question: Omit<Question, 'id'>): Question | undefined {
    const { studyId, label, description } = question
    const added = this.#sqlite
      .prepare(
        `INSERT INTO questions (study_id, label, description)
         SELECT id, ?, ? FROM studies WHERE id = ? AND account_id = ? AND status <> 'archived'
         ON CONFLICT (study_id, label) DO NOTHING`,
      )
      .run(label, description, studyId, accountId)
    return added.changes === 0 ? undefined : { id: Number(added.lastInsertRowid), ...question }
  }

  close(): void {
    this.#sqlite.close()
  }
}

/** Opens the database at a path, and fills it with demo data when it is new. */
export function openStudies(path = ':memory:'): StudiesDatabase {
  const sqlite = openSqlite(path)
  sqlite.exec(SCHEMA)
  const { count } = sqlite.prepare('SELECT count(*) AS count FROM users').get() as { count: number }
  if (count === 0) seed(sqlite, hashOf)
  return new StudiesDatabase(sqlite)
}

/** Enough for tokens of many random bytes; what people choose needs a slow hash. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** A study with its questions, as Markdown. */
export function toMarkdown(study: Study, questions: readonly Question[]): string {
  const { title, status, category, goal } = study
  const listed = questions.map(({ label, description }) => `## ${label}\n\n${description}\n`)
  const all = listed.length === 0 ? 'There are no questions yet.\n' : listed.join('\n')
  return `# ${title}\n\n${goal}\n\nStatus: ${status}. Category: ${category}.\n\n${all}`
}
