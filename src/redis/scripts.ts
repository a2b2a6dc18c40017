import type { RedisClient } from './clients.js'
import { isIoredis } from './clients.js'
import type { RedisLink } from './link.js'

// A value is a hash: v is what it holds, r its revision. A log is a hash as well: its entries by number, and beside them
// first and last (the numbers of those that are kept), start (of the first that there ever was), bytes, and life, which
// tells the log from one of the same name that was there before it. One key for each: a cluster has it in one place.

export const GET = `return redis.call('HMGET', KEYS[1], 'v', 'r')`

// A client may send a command again that was carried out when its connection broke: then the revision is there already.
export const SET = `
local held = redis.call('HGET', KEYS[1], 'r')
if held ~= ARGV[2] then
  if ARGV[4] == 'absent' and held then return false end
  if ARGV[4] == 'same' and held ~= ARGV[5] then return false end
  redis.call('HSET', KEYS[1], 'v', ARGV[1], 'r', ARGV[2])
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return ARGV[2]`

export const TIME = `
local now = redis.call('TIME')
return string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000))`

export const DELETE = `
if ARGV[1] == 'same' and redis.call('HGET', KEYS[1], 'r') ~= ARGV[2] then return '0' end
return tostring(redis.call('UNLINK', KEYS[1]))`

export const CLAIM = `
local owner = redis.call('HGET', KEYS[1], 'v')
if owner and owner ~= ARGV[1] then return owner end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'r', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return ARGV[1]`

export const RELEASE = `
if redis.call('HGET', KEYS[1], 'v') == ARGV[1] then redis.call('UNLINK', KEYS[1]) end
return false`

// Numbers begin with the time in microseconds, so that those of a later life are greater. As strings they need a format:
// tostring rounds at 14 digits.
export const APPEND = `
local key = KEYS[1]
local function name(number) return string.format('%.0f', number) end
local kept = redis.call('HMGET', key, 'first', 'last', 'bytes', 'life')
local first, last, bytes, life = tonumber(kept[1]), tonumber(kept[2]), tonumber(kept[3]), kept[4]
if not last then
  local now = redis.call('TIME')
  first, bytes, life = now[1] * 1000000 + now[2], 0, ARGV[5]
  last = first - 1
  redis.call('HSET', key, 'start', name(first), 'life', life)
end
last = last + 1
bytes = bytes + #ARGV[1]
redis.call('HSET', key, name(last), ARGV[1])
while first < last and (last - first >= tonumber(ARGV[3]) or bytes > tonumber(ARGV[4])) do
  bytes = bytes - redis.call('HSTRLEN', key, name(first))
  redis.call('HDEL', key, name(first))
  first = first + 1
end
redis.call('HSET', key, 'first', name(first), 'last', name(last), 'bytes', name(bytes))
redis.call('PEXPIRE', key, ARGV[2])
return string.format('%016.0f-%s', last, life)`

export const READ = `
local key = KEYS[1]
local kept = redis.call('HMGET', key, 'first', 'last', 'start', 'life')
local first, last, start, life = tonumber(kept[1]), tonumber(kept[2]), tonumber(kept[3]), kept[4]
if not last then return { ARGV[2] == 'start' and '0' or '1' } end
local from, gap = first, first > start
if ARGV[2] == 'after' then
  local after = tonumber(ARGV[3])
  gap = ARGV[4] ~= life or after < first - 1 or after < start or after > last
  if not gap then from = after + 1 end
end
local found = { gap and '1' or '0' }
for number = from, math.min(last, from + ARGV[1] - 1) do
  found[#found + 1] = string.format('%016.0f-%s', number, life)
  found[#found + 1] = redis.call('HGET', key, string.format('%.0f', number))
end
return found`

export const DROP = `
redis.call('UNLINK', KEYS[1])
return false`

// PUBLISH itself may go to another node of a cluster each time, and then one message overtakes another. A script goes to
// the node of its key.
const PUBLISH = `
redis.call('PUBLISH', KEYS[1], ARGV[1])
return false`

/** What a script gets: one key, so that a cluster knows where it belongs. */
export interface ScriptCall {
  readonly key: string
  readonly args?: readonly (string | number)[]
}

/** Runs scripts by their hash; a server that does not know one is sent it. */
export class Scripts {
  readonly #link: RedisLink
  readonly #hashes = new Map<string, Promise<string>>()

  constructor(link: RedisLink) {
    this.#link = link
  }

  async run(script: string, call: ScriptCall): Promise<unknown> {
    const hash = await this.#hashOf(script)
    return await this.#link.call(async (client) => {
      try {
        return await evaluateHash(client, hash, call)
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
        return await evaluate(client, script, call)
      }
    })
  }

  /** Always sent whole: a message that has to be sent twice would be overtaken by the next. */
  async publish(channel: string, message: string): Promise<void> {
    await this.#link.call((client) => evaluate(client, PUBLISH, { key: channel, args: [message] }))
  }

  #hashOf(script: string): Promise<string> {
    const known = this.#hashes.get(script) ?? sha1(script)
    this.#hashes.set(script, known)
    return known
  }
}

function evaluate(client: RedisClient, script: string, { key, args = [] }: ScriptCall): Promise<unknown> {
  const texts = args.map(String)
  return isIoredis(client)
    ? client.eval(script, 1, key, ...texts)
    : client.eval(script, { keys: [key], arguments: texts })
}

function evaluateHash(client: RedisClient, hash: string, { key, args = [] }: ScriptCall): Promise<unknown> {
  const texts = args.map(String)
  return isIoredis(client)
    ? client.evalsha(hash, 1, key, ...texts)
    : client.evalSha(hash, { keys: [key], arguments: texts })
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
