import { assertInRange } from '../backplane/range.js'
import type { AppendOptions, Lease, LogEntry, LogPart, SetOptions, Store, StoredValue } from '../backplane/store.js'
import type { RedisLink } from './link.js'
import { scanKeys } from './scan.js'
import { APPEND, CLAIM, DELETE, DROP, GET, READ, RELEASE, type Scripts, SET, TIME } from './scripts.js'

interface RedisStoreOptions {
  readonly link: RedisLink
  readonly scripts: Scripts
  readonly prefix: string
  readonly timeoutMs: number
}

/** A {@link Store} in Redis, which ends things by itself. Every call is one script, and so takes place at once or not at all. */
export class RedisStore implements Store {
  readonly #options: RedisStoreOptions
  readonly #values: string
  readonly #logs: string

  constructor(options: RedisStoreOptions) {
    this.#options = options
    this.#values = `${options.prefix}v:`
    this.#logs = `${options.prefix}l:`
  }

  async get(key: string): Promise<StoredValue | undefined> {
    const [value, revision] = texts(await this.#value(GET, key, []))
    return value === undefined || revision === undefined ? undefined : { value, revision }
  }

  async set(key: string, value: string, options: SetOptions): Promise<string | undefined> {
    const { ttlMs, ifRevision } = options
    assertInRange('ttlMs', ttlMs)
    const condition = ifRevision === undefined ? ['any'] : ifRevision === null ? ['absent'] : ['same', ifRevision]
    return text(await this.#value(SET, key, [value, crypto.randomUUID(), ttlMs, ...condition]))
  }

  async delete(key: string, ifRevision?: string): Promise<boolean> {
    const condition = ifRevision === undefined ? ['any'] : ['same', ifRevision]
    return (await this.#value(DELETE, key, condition)) === '1'
  }

  async claim(key: string, owner: string, ttlMs: number): Promise<Lease> {
    assertInRange('ttlMs', ttlMs)
    const holder = text(await this.#value(CLAIM, key, [owner, crypto.randomUUID(), ttlMs])) ?? owner
    return { owner: holder, mine: holder === owner }
  }

  async release(key: string, owner: string): Promise<void> {
    await this.#value(RELEASE, key, [owner])
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const { link, timeoutMs } = this.#options
    const seen = new Set<string>()
    for await (const name of scanKeys(link, this.#values + prefix, timeoutMs)) {
      if (seen.has(name)) continue
      seen.add(name)
      yield name.slice(this.#values.length)
    }
  }

  async append(log: string, value: string, options: AppendOptions): Promise<string> {
    const { ttlMs, maxEntries, maxBytes } = options
    assertInRange('ttlMs', ttlMs)
    assertInRange('maxEntries', maxEntries)
    assertInRange('maxBytes', maxBytes)
    const life = crypto.randomUUID().slice(-12)
    const id = text(await this.#log(APPEND, log, [value, ttlMs, maxEntries, maxBytes, life]))
    if (id === undefined) throw new Error('Redis has answered an append without an id')
    return id
  }

  async readAfter(log: string, id: string | undefined, limit: number): Promise<LogPart> {
    assertInRange('limit', limit)
    const [gap, ...found] = texts(await this.#log(READ, log, [limit, ...placeOf(id)]))
    const entries: LogEntry[] = []
    for (let index = 0; index + 1 < found.length; index += 2) {
      entries.push({ id: found[index] ?? '', value: found[index + 1] ?? '' })
    }
    return { entries, gap: gap === '1' }
  }

  async drop(log: string): Promise<void> {
    await this.#log(DROP, log, [])
  }

  async time(): Promise<number> {
    return Number(text(await this.#value(TIME, 'time', [])))
  }

  #value(script: string, key: string, args: readonly (string | number)[]): Promise<unknown> {
    return this.#options.scripts.run(script, { key: this.#values + key, args })
  }

  #log(script: string, log: string, args: readonly (string | number)[]): Promise<unknown> {
    return this.#options.scripts.run(script, { key: this.#logs + log, args })
  }
}

/** Where a reader stands, as the script wants it. What is no id of ours belongs to a life that no log has. */
function placeOf(id: string | undefined): readonly string[] {
  if (id === undefined) return ['start']
  const [, number = '0', life = ''] = /^(\d{16})-([0-9a-f]{12})$/.exec(id) ?? []
  return ['after', number, life]
}

function text(reply: unknown): string | undefined {
  return typeof reply === 'string' ? reply : undefined
}

function texts(reply: unknown): readonly (string | undefined)[] {
  return Array.isArray(reply) ? reply.map(text) : []
}
