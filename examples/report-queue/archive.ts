import type { Redis } from 'ioredis'

export interface Chapter {
  readonly title: string
  readonly sum: number
  readonly draft?: boolean
}

/** An id that was here before gets the number that it got then. */
const NUMBER = `
  if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
    redis.call('HSET', KEYS[1], ARGV[1], redis.call('INCR', KEYS[2]))
  end
  return tonumber(redis.call('HGET', KEYS[1], ARGV[1]))`

/** Figures to write about, and what was written. Each write is by the id of the report, so that doing it again changes nothing. */
export class Archive {
  readonly #redis: Redis

  constructor(redis: Redis) {
    this.#redis = redis
  }

  /** @throws Error where the year has none yet. */
  async chapters(year: number): Promise<readonly Chapter[]> {
    const figures = await this.#redis.get(`archive:figures:${year}`)
    if (figures === null) throw new Error(`there are no figures of ${year} yet`)
    return JSON.parse(figures) as Chapter[]
  }

  /** Reports are numbered without a gap. */
  async number(id: string): Promise<number> {
    return Number(await this.#redis.eval(NUMBER, 2, 'archive:numbers', 'archive:last', id))
  }

  async read(id: string): Promise<Readonly<Record<string, string>>> {
    return await this.#redis.hgetall(`archive:text:${id}`)
  }

  async write(id: string, title: string, text: string): Promise<void> {
    await this.#redis.hset(`archive:text:${id}`, title, text)
  }
}
