import { renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'phantom-mcp'
import { type SkillMemory, skills } from 'phantom-mcp/skills'
import { fromDirectory } from 'phantom-mcp/skills/node'
import { connect } from 'phantom-mcp/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { folderWith, markdown, refusalOf, routerOf } from './_skills.js'

const FILES = {
  'guide/SKILL.md': markdown('guide'),
  'guide/a.txt': 'one',
  'guide/b.txt': 'other',
  'guide/sub/c.txt': 'inside',
  'out/a.txt': 'outside',
  'out/c.txt': 'outside',
}

// What was changed a moment ago is not kept: to these tests, what they write is ten seconds old.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 }))
afterEach(() => void vi.useRealTimers())

/** The bytes of a file as the next request gets them: the same array where it was not read again. */
async function bytesOf(folder: string, memory: SkillMemory, path = 'a.txt'): Promise<Uint8Array> {
  const skill = await fromDirectory(join(folder, 'guide')).load(memory)
  return (await skill?.files.get(path)?.read()) ?? new Uint8Array()
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

describe('contents of a directory', () => {
  test('are read once for as long as the file is unchanged', async () => {
    const folder = folderWith(FILES)
    const memory = new Map<string, unknown>()
    const [first, second] = await Promise.all([bytesOf(folder, memory), bytesOf(folder, memory)])
    const other = await bytesOf(folder, memory, 'b.txt')
    expect(textOf(first)).toBe('one')
    expect(second).toBe(first)
    writeFileSync(join(folder, 'guide/b.txt'), 'OTHER')
    expect(await bytesOf(folder, memory)).toBe(first)
    expect(textOf(await bytesOf(folder, memory, 'b.txt'))).toBe('OTHER')
    expect(textOf(other)).toBe('other')
  })

  test('are read again when the file has changed, or is another one of the same size and age', async () => {
    const folder = folderWith({ ...FILES, 'guide/.next': 'two' })
    const memory = new Map<string, unknown>()
    const first = await bytesOf(folder, memory)
    renameSync(join(folder, 'guide/.next'), join(folder, 'guide/a.txt'))
    const second = await bytesOf(folder, memory)
    expect([first, second].map(textOf)).toEqual(['one', 'two'])
    writeFileSync(join(folder, 'guide/a.txt'), 'three')
    expect(textOf(await bytesOf(folder, memory))).toBe('three')
  })

  test('are not kept of a file that has just changed: its next change might have the same time', async () => {
    vi.useRealTimers()
    const folder = folderWith(FILES)
    const memory = new Map<string, unknown>()
    const first = await bytesOf(folder, memory)
    const second = await bytesOf(folder, memory)
    expect(textOf(second)).toBe('one')
    expect(second).not.toBe(first)
  })

  test('are not kept beyond what there is room for', async () => {
    const kept: number[] = []
    const memory: SkillMemory = { get: () => undefined, set: (_key, _value, bytes) => void kept.push(bytes ?? -1) }
    const folder = folderWith(FILES)
    for (const path of ['a.txt', 'b.txt']) await bytesOf(folder, memory, path)
    expect(kept.filter((bytes) => bytes >= 0)).toEqual([3, 5])
  })
})

describe('what was read before', () => {
  async function served(folder: string) {
    const errors: unknown[] = []
    const guides = skills().route('guide', () => fromDirectory(join(folder, 'guide')))
    const client = await connect(createServer(routerOf(guides), { onError: (error) => errors.push(error) }))
    const read = async (path: string): Promise<unknown> =>
      (await client.readResource(`skill://guide/${path}`)).contents[0]
    for (const path of ['a.txt', 'sub/c.txt']) for (let count = 0; count < 2; count++) await read(path)
    expect(await read('a.txt')).toMatchObject({ text: 'one' })
    return { client, read, errors }
  }

  const SWAPS: [string, (folder: string) => void, string][] = [
    [
      'a file that has become a link',
      (folder) => {
        rmSync(join(folder, 'guide/a.txt'))
        symlinkSync(join(folder, 'out/a.txt'), join(folder, 'guide/a.txt'))
      },
      '"a.txt" is a link or a device',
    ],
    [
      'a directory that has become a link',
      (folder) => {
        rmSync(join(folder, 'guide/sub'), { recursive: true })
        symlinkSync(join(folder, 'out'), join(folder, 'guide/sub'))
      },
      '"sub" is a link or a device',
    ],
    [
      'a file that has grown beyond the limit',
      (folder) => truncateSync(join(folder, 'guide/a.txt'), 16_777_217),
      'more than 16777216 bytes',
    ],
  ]
  test.each(SWAPS)('does not hide %s', async (_what, swap, message) => {
    const folder = folderWith(FILES)
    const { read, errors } = await served(folder)
    swap(folder)
    for (const path of ['a.txt', 'sub/c.txt', 'b.txt'])
      expect(await refusalOf(read(path))).toEqual({ code: -32603, message: 'Internal error', data: undefined })
    expect(errors.map(String)).toEqual(Array.from({ length: 3 }, () => expect.stringContaining(message)))
  })

  test('is not there under another path, nor once it is gone', async () => {
    const folder = folderWith(FILES)
    const { read, errors } = await served(folder)
    for (const path of ['../out/a.txt', 'sub/../a.txt', './a.txt', 'sub/..%2Fa.txt', '%61.txt', 'a.txt%00', '/a.txt'])
      expect(await refusalOf(read(path)), path).toMatchObject({ code: -32602 })
    rmSync(join(folder, 'guide/a.txt'))
    expect(await refusalOf(read('a.txt'))).toMatchObject({ code: -32602 })
    expect(errors).toEqual([])
  })
})
