import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createServer, type Json } from 'phantom-mcp'
import { skills } from 'phantom-mcp/skills'
import { type DirectoryOptions, fromDirectory } from 'phantom-mcp/skills/node'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { folderWith, markdown, refusalOf, routerOf, urisOf } from './_skills.js'

interface Served {
  readonly client: TestClient
  /** Errors that reached the operator since the last time. */
  errors(): string[]
}

async function served(folder: string, options?: DirectoryOptions): Promise<Served> {
  const errors: unknown[] = []
  const guides = skills().route('guide', () => fromDirectory(join(folder, 'guide'), options))
  const server = createServer(routerOf(guides), { onError: (error) => errors.push(error) })
  return { client: await connect(server), errors: () => errors.splice(0).map(String) }
}

const get = (client: TestClient): Promise<Json> => client.request('skills/get', { uri: 'skill://guide/SKILL.md' })
const digestsOf = async (client: TestClient): Promise<unknown[]> =>
  ((await get(client))['skill'] as { resources: { digest: unknown }[] }).resources.map(({ digest }) => digest)
const sha256 = (data: string | Uint8Array): string => `sha256:${createHash('sha256').update(data).digest('hex')}`

describe('fromDirectory', () => {
  test('serves what is there, byte for byte, and front matter as it is written', async () => {
    const text = markdown('guide', 'license: MIT\ntags: [a, b]\nmetadata:\n  version: "1.0"\n  since: 2020-01-01\n')
    const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0])
    const bom = '\ufeffwith a mark'
    const folder = folderWith({
      'guide/SKILL.md': text,
      'guide/assets/logo.png': bytes,
      'guide/notes.txt': bom,
      'guide/.env': 'SECRET=1',
      'guide/.git/config': 'hidden',
    })
    const { client } = await served(folder)
    expect((await get(client))['skill']).toEqual({
      uri: 'skill://guide/SKILL.md',
      frontmatter: {
        name: 'guide',
        description: 'How to guide',
        license: 'MIT',
        tags: ['a', 'b'],
        metadata: { version: '1.0', since: '2020-01-01' },
      },
      resources: [
        { uri: 'skill://guide/SKILL.md', digest: sha256(text), size: text.length },
        { uri: 'skill://guide/assets/logo.png', digest: sha256(bytes), size: 5 },
        { uri: 'skill://guide/notes.txt', digest: sha256(bom), size: 14 },
      ],
    })
    const read = async (path: string): Promise<unknown> =>
      (await client.readResource(`skill://guide/${path}`)).contents[0]
    expect(await read('SKILL.md')).toMatchObject({ text, mimeType: 'text/markdown' })
    expect(await read('notes.txt')).toMatchObject({ text: bom, mimeType: 'text/plain' })
    expect(await read('assets/logo.png')).toMatchObject({ blob: 'iVBORwA=', mimeType: 'image/png' })
    for (const path of ['.env', '.git/config', 'assets', 'assets/../SKILL.md'])
      await refusalOf(client.readResource(`skill://guide/${path}`))
  })

  test('sees changes, and reads again only what has changed', async () => {
    const folder = folderWith({ 'guide/SKILL.md': markdown('guide'), 'guide/a.txt': 'one' })
    const { client } = await served(folder)
    expect((await digestsOf(client))[1]).toBe(sha256('one'))
    writeFileSync(join(folder, 'guide/a.txt'), 'two')
    const later = new Date(Date.now() + 5000)
    utimesSync(join(folder, 'guide/a.txt'), later, later)
    writeFileSync(join(folder, 'guide/b.txt'), 'new')
    expect((await digestsOf(client)).slice(1)).toEqual([sha256('two'), sha256('new')])
    expect((await client.readResource('skill://guide/a.txt')).contents[0]).toMatchObject({ text: 'two' })
    rmSync(join(folder, 'guide/a.txt'))
    expect(await digestsOf(client)).toHaveLength(2)
    writeFileSync(join(folder, 'guide/SKILL.md'), markdown('guide', 'license: MIT\n'))
    expect(((await get(client))['skill'] as Json)['frontmatter']).toMatchObject({ license: 'MIT' })
  })

  test('refuses symbolic links, to files and to directories', async () => {
    for (const target of ['secret.txt', '.', 'guide/SKILL.md']) {
      const folder = folderWith({ 'guide/SKILL.md': markdown('guide'), 'secret.txt': 'secret' })
      symlinkSync(join(folder, target), join(folder, 'guide/link'))
      const { client, errors } = await served(folder)
      expect(await refusalOf(client.readResource('skill://guide/link'))).toMatchObject({ code: -32603 })
      expect(errors()).toEqual([expect.stringContaining('"link" is a link or a device, and only files are served')])
    }
  })

  test('is not led out by a directory that becomes a link', async () => {
    const folder = folderWith({
      'guide/SKILL.md': markdown('guide'),
      'guide/sub/a.txt': 'inside',
      'out/a.txt': 'outside',
    })
    const source = fromDirectory(join(folder, 'guide'))
    const memory = new Map<string, unknown>()
    const skill = await source.load(memory)
    const file = skill?.files.get('sub/a.txt')
    expect(new TextDecoder().decode(await file?.read())).toBe('inside')
    renameSync(join(folder, 'guide/sub'), join(folder, 'guide/was'))
    symlinkSync(join(folder, 'out'), join(folder, 'guide/sub'))
    await expect(async () => await file?.read()).rejects.toThrow("'sub/a.txt' is no file of the skill any more")
  })

  test('may be reached by a link itself', async () => {
    const folder = folderWith({ 'v2/SKILL.md': markdown('guide') })
    symlinkSync(join(folder, 'v2'), join(folder, 'guide'))
    const { client } = await served(folder)
    expect((await get(client))['skill']).toMatchObject({ frontmatter: { name: 'guide' } })
  })

  test.each<[string, Record<string, string | Uint8Array>, string]>([
    ['no SKILL.md', { 'guide/a.txt': 'a' }, 'it has no SKILL.md'],
    ['no front matter', { 'guide/SKILL.md': '# Guide' }, 'must begin with front matter'],
    ['front matter that does not end', { 'guide/SKILL.md': '---\nname: guide\n' }, 'must begin with front matter'],
    ['no YAML', { 'guide/SKILL.md': '---\n{\n---\n' }, 'is not YAML'],
    ['a bomb', { 'guide/SKILL.md': `---\na: &a [x]\n${bomb()}---\n` }, 'is not YAML'],
    ['the name of another', { 'guide/SKILL.md': markdown('other') }, "the front matter says 'other'"],
    [
      'metadata that is no text',
      { 'guide/SKILL.md': markdown('guide', 'metadata:\n  version: 1.0\n') },
      "metadata must have a string for each name: quote the value of 'version'",
    ],
    ['no description', { 'guide/SKILL.md': '---\nname: guide\n---\n' }, 'the description must be a string'],
    ['17 MiB', { 'guide/SKILL.md': markdown('guide'), 'guide/big': new Uint8Array(17_825_792) }, 'more than 16777216'],
    [
      '513 files',
      Object.fromEntries([
        ['guide/SKILL.md', markdown('guide')],
        ...Array.from({ length: 512 }, (_, n) => [`guide/f${n}`, '']),
      ]),
      'more than 512 files',
    ],
    ['a name with a backslash', { 'guide/SKILL.md': markdown('guide'), 'guide/a\\b': '' }, 'no URI can have the name'],
  ])('does not serve a directory with %s, and says why', async (_what, files, message) => {
    const { client, errors } = await served(folderWith(files))
    expect(await refusalOf(get(client))).toEqual({ code: -32603, message: 'Internal error', data: undefined })
    expect(errors()).toEqual([expect.stringContaining(message)])
    expect((await client.request('skills/list'))['skills']).toEqual([])
  })

  test('a directory that is not there is an error, or no skill where that is said', async () => {
    const folder = folderWith({})
    const { client, errors } = await served(folder)
    expect(await refusalOf(get(client))).toMatchObject({ code: -32603 })
    expect(errors()).toEqual([expect.stringContaining('ENOENT')])
    const optional = await served(folder, { optional: true })
    expect(await refusalOf(get(optional.client))).toMatchObject({ code: -32602 })
    expect(optional.errors()).toEqual([])
  })

  test('can say that its files change without notice', async () => {
    const { client } = await served(folderWith({ 'guide/SKILL.md': markdown('guide') }), { resources: 'dynamic' })
    expect((await get(client))['skill']).toMatchObject({ resources: 'dynamic' })
  })

  test('refuses what is no path, and unknown options', () => {
    expect(() => fromDirectory('')).toThrow('fromDirectory: the first argument must be the path of a directory')
    expect(() => fromDirectory('a\0b')).toThrow(TypeError)
    expect(() => fromDirectory('a', { option: true } as never)).toThrow("fromDirectory: unknown option 'option'")
  })

  test('a front matter with dashes in its lines is read whole', async () => {
    const folder = folderWith({
      'guide/SKILL.md': '---\r\nname: guide\r\ndescription: a --- b ---\r\nkey: --- c\r\n---\r\nBody\r\n---\r\n',
    })
    const { client } = await served(folder)
    expect((await get(client))['skill']).toMatchObject({ frontmatter: { description: 'a --- b ---', key: '--- c' } })
  })

  test('empty directories are no part of a skill', async () => {
    const folder = folderWith({ 'guide/SKILL.md': markdown('guide') })
    mkdirSync(join(folder, 'guide/empty'))
    const { client } = await served(folder)
    const listed = await client.request('resources/directory/read', { uri: 'skill://guide' })
    expect(urisOf(listed['resources'])).toEqual(['skill://guide/SKILL.md'])
  })
})

/** Ten levels of ten references each. */
function bomb(): string {
  const names = 'abcdefghij'.split('')
  return names
    .slice(1)
    .map((name, index) => `${name}: &${name} [${Array.from({ length: 10 }, () => `*${names[index]}`).join(', ')}]\n`)
    .join('')
}
