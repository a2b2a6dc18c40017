import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createServer } from 'phantom-mcp'
import { skills } from 'phantom-mcp/skills'
import { fromDirectory } from 'phantom-mcp/skills/node'
import { connect } from 'phantom-mcp/testing'
import { expect, vi } from 'vitest'
import { verifies } from '../_setup.js'
import { folderWith, markdown, routerOf } from './_skills.js'

// A request is put together from pieces that lead out of a directory somewhere: whatever it comes to, what is answered is a
// file of the skill, under the one URI that was published for it.

const SEED = 20_260_728
const TRIES = 6000

const PIECES = [
  ...['.', '..', '...', '/', '//', '\\', '%2f', '%2F', '%5c', '%5C', '%2e', '%2E', '%2e%2e', '%252e%252e', '%c0%ae'],
  ...['%00', '\0', '%0a', '\n', '%ff', '%', '%2', '%u002e', '?', '#', ';', '@', ':', '~', '*', '|', '"', ' ', '%20'],
  ...[
    'guide',
    'other',
    'SKILL.md',
    'skill.md',
    'sub',
    'a.txt',
    'secret.txt',
    'outside',
    'guide-secret',
    '.env',
    'etc/passwd',
  ],
  ...[
    'ä',
    'a\u0308',
    '%C3%A4',
    '%c3%a4',
    '\u2024\u2024',
    '\uff0e\uff0e',
    '\uff0f',
    '\u2215',
    '\ufeff',
    '\u202e',
    '😀',
    '\ud800',
  ],
  ...['C:', 'file://', 'skill://', 'SKILL://', 'http://localhost/', 'con', 'x'.repeat(300)],
]

/** The same numbers each time (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function requestOf(random: (below: number) => number): string {
  const start = ['skill://guide/', 'skill://guide/', 'skill://', 'skill://guide', 'skill://guide/sub/', ''][random(6)]
  const pieces = Array.from({ length: 1 + random(6) }, () => PIECES[random(PIECES.length)])
  return start + pieces.join(random(2) === 0 ? '' : '/')
}

verifies('skills.inside', `none of ${TRIES} requests reads a file outside of a skill`, async () => {
  // Old enough to be kept: what was read once must not lead elsewhere either.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 })
  const folder = folderWith({
    'secret.txt': 'outside',
    '.env': 'outside',
    'guide-secret/secret.txt': 'outside',
    'other/SKILL.md': markdown('other'),
    'guide/SKILL.md': markdown('guide'),
    'guide/.env': 'outside',
    'guide/a.txt': 'inside a',
    'guide/sub/a.txt': 'inside sub a',
    'guide/sub/ä': 'inside ä',
    'guide/%2e%2e': 'inside, with an odd name',
  })
  const errors: unknown[] = []
  const guides = skills()
    .route('guide', () => fromDirectory(join(folder, 'guide')))
    .route('guides/:name', ({ name }) => fromDirectory(join(folder, name), { optional: true }))
  const client = await connect(createServer(routerOf(guides), { onError: (error) => errors.push(error) }))
  const { skill } = await client.request('skills/get', { uri: 'skill://guide/SKILL.md' })
  const { resources } = skill as { resources: { uri: string; digest: string }[] }
  const published = new Map(resources.map(({ uri, digest }) => [uri, digest]))
  expect([...published.keys()]).toEqual([
    'skill://guide/%252e%252e',
    'skill://guide/SKILL.md',
    'skill://guide/a.txt',
    'skill://guide/sub/%C3%A4',
    'skill://guide/sub/a.txt',
  ])

  const random = randomFrom(SEED)
  let read = 0
  const tryOne = async (uri: string): Promise<void> => {
    const answer = await client.readResource(uri).catch(() => undefined)
    const [contents] = answer?.contents ?? []
    if (contents === undefined) return
    read++
    const text = 'text' in contents ? contents.text : ''
    expect(text, uri).not.toContain('outside')
    expect(`sha256:${createHash('sha256').update(text).digest('hex')}`, uri).toBe(published.get(uri))
  }
  for (let count = 0; count < TRIES; count++) await tryOne(requestOf(random))
  expect(read).toBeGreaterThan(5)

  for (let count = 0; count < TRIES / 10; count++) {
    const uri = requestOf(random)
    const listed = await client.request('resources/directory/read', { uri }).catch(() => ({ resources: [] }))
    for (const child of listed['resources'] as { uri: string }[]) expect(child.uri, uri).toMatch(/^skill:\/\/guide\//)
  }
  for (const name of [
    '..',
    '%2E%2E',
    '..%2F',
    '%2e%2e%2fguide-secret',
    '.',
    '%00',
    'guide-secret%5C',
    'other%2F..%2Fguide',
  ]) {
    for (const path of ['secret.txt', 'SKILL.md', 'guide-secret/secret.txt'])
      await expect(client.readResource(`skill://guides/${name}/${path}`)).rejects.toMatchObject({ code: -32602 })
  }
  expect(errors).toEqual([])
  vi.useRealTimers()
})
