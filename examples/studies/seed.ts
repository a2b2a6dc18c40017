import type { Sqlite } from './sqlite.js'

// Demo data, the same each time: account 1 has the studies 1 to 120, account 2 has 121 and 122.

const USERS = [
  { id: 'ada', token: 'ada-token', name: 'Ada', plan: 'ultra', suspended: 0, accountId: 1 },
  { id: 'bo', token: 'bo-token', name: 'Bo', plan: 'basic', suspended: 0, accountId: 1 },
  { id: 'cy', token: 'cy-token', name: 'Cy', plan: 'ultra', suspended: 0, accountId: 2 },
  { id: 'dee', token: 'dee-token', name: 'Dee', plan: 'basic', suspended: 1, accountId: 2 },
] as const

const TOPICS = ['Coffee', 'Commuting', 'Sleep', 'Reading', 'Gardens', 'Travel'] as const
const CATEGORIES = ['consumer', 'health', 'leisure'] as const
const STATUSES = ['draft', 'active', 'archived', 'active'] as const
const STUDIES_OF_FIRST = 120
const STUDIES = 122

/** One transparent pixel. */
const COVER = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Fills a database that is new; all of it, or nothing. */
export function seed(sqlite: Sqlite, hashOf: (token: string) => string): void {
  const user = sqlite.prepare(
    'INSERT INTO users (id, token_hash, name, plan, suspended, account_id) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const study = sqlite.prepare(
    'INSERT INTO studies (id, account_id, title, status, category, price, goal, cover) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const tag = sqlite.prepare('INSERT INTO study_tags (study_id, tag) VALUES (?, ?)')
  const question = sqlite.prepare('INSERT INTO questions (study_id, label, description) VALUES (?, ?, ?)')
  const fill = sqlite.transaction(() => {
    for (const { id, token, name, plan, suspended, accountId } of USERS) {
      user.run(id, hashOf(token), name, plan, suspended, accountId)
    }
    for (let id = 1; id <= STUDIES; id++) {
      const topic = pick(TOPICS, id)
      const goal = `Learn what people think of ${topic.toLowerCase()}.`
      // Every fifth study has no cover.
      const cover = id % 5 === 0 ? null : Buffer.from(COVER, 'base64')
      const account = id <= STUDIES_OF_FIRST ? 1 : 2
      study.run(id, account, `${topic} study ${id}`, pick(STATUSES, id), pick(CATEGORIES, id), id * 10, goal, cover)
      tag.run(id, topic.toLowerCase())
      tag.run(id, id % 2 === 0 ? 'even' : 'odd')
      question.run(id, `Why ${topic.toLowerCase()}?`, `In one paragraph: what does ${topic.toLowerCase()} mean to you?`)
    }
  })
  fill()
}

/** The first is for id 1. */
function pick<Item>(items: readonly Item[], id: number): Item {
  return items[(id - 1) % items.length] as Item
}
