import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

/** What is used of better-sqlite3, said here so that this compiles where the folder's packages are not installed. */
export interface Sqlite {
  prepare(sql: string): Statement
  exec(sql: string): unknown
  /** Wraps a function so that it runs as one transaction. */
  transaction(run: () => void): () => void
  close(): unknown
}

export interface Statement {
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  run(...values: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
}

type Constructor = new (path: string) => Sqlite

// Compiled, this file is .build/examples/studies/sqlite.js, and the packages are those of the source's folder.
const home = ['./package.json', '../../../examples/studies/package.json']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))

/** Opens a database file, or a database in memory for `:memory:`. */
export function openSqlite(path: string): Sqlite {
  const load = createRequire(home ?? import.meta.url)
  try {
    const Database = load('better-sqlite3') as Constructor
    return new Database(path)
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    throw missing ? new Error('better-sqlite3 is not installed: npm ci in examples/studies', { cause: error }) : error
  }
}
