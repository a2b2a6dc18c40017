import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient, SkillVerificationError } from '@modelcontextprotocol/client/ext/skills'
import { createServer, type Server, withCache } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { Skill, skills } from 'phantom-mcp/skills'
import { fromDirectory } from 'phantom-mcp/skills/node'
import { afterEach, describe, expect, test } from 'vitest'
import { PATIENT } from '../_messages.js'
import { folderWith, markdown, routerOf, simple, urisOf } from '../skills/_skills.js'

// The official client of the skills extension takes nothing on trust: it compares size and digest of each file with what was
// published, and the front matter of each SKILL.md with what skills/list says.

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0xff])
const DIRECTORY = {
  'guide/SKILL.md': `\ufeff${markdown(
    'guide',
    'license: "MIT"\r\nversion: 1.0\r\nsince: 2020-01-01\r\nyes: no\r\ntags: [a, "b: c", ~]\r\nlong: >-\r\n  folded\r\n  text\r\n',
  )}`,
  'guide/assets/logo.png': PNG,
  'guide/notes/\u00e4h (1) %2e.md': '\ufeff\u00e4\r\n\u2028',
  'guide/empty.txt': '',
}

const guidesIn = (folder: string) =>
  skills()
    .route('guide', () => withCache(fromDirectory(`${folder}/guide`), { ttlMs: 60_000, scope: 'public' }))
    .route('guide/deep/part', () => simple('part', { 'x.md': 'x' }))
    .route('odd', () =>
      Skill.build({
        frontmatter: {
          name: 'odd',
          description: 'a: "b"\n--- # \u0085\u2028 c',
          metadata: { no: 'no', date: '2020-01-01', version: '1.0' },
          more: { list: [1, null, { deep: true }] },
        },
        body: '---\nnot front matter\n---\n',
        files: { 'a b/c#d?.txt': () => 'made when it is asked for' },
      }),
    )
    .route('studies/:id/review', ({ id }) => (id === 'none' ? null : simple('review', { 'id.txt': id })))
    .route('tides', () =>
      Skill.build({ frontmatter: { name: 'tides', description: 'Now' }, body: 'x', resources: 'dynamic' }),
    )

interface Connected {
  readonly client: Client
  readonly host: SkillsClient
  readonly server: Server
}

async function connected(mode: 'legacy' | { pin: string }): Promise<Connected> {
  const errors: unknown[] = []
  const server = createServer(routerOf(guidesIn(folderWith(DIRECTORY)), 2), { onError: (error) => errors.push(error) })
  const serving = await serve(server, { port: 0, signals: false })
  const client = new Client({ name: 'official', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(serving.url)))
  undo.push(
    () => serving.close(),
    () => client.close(),
    async () => expect(errors).toEqual([]),
  )
  return { client, server, host: new SkillsClient(client) }
}

describe.each(['legacy', { pin: '2026-07-28' }] as const)('the official client of skills, %j', (mode) => {
  test('takes each file of each skill for what was published', async () => {
    const { host } = await connected(mode)
    expect([host.supported, host.directoryRead]).toEqual([true, true])
    const { skills: listed, invalid } = await host.list()
    expect(invalid).toEqual([])
    expect(urisOf(listed)).toEqual([
      'skill://guide/SKILL.md',
      'skill://guide/deep/part/SKILL.md',
      'skill://odd/SKILL.md',
      'skill://tides/SKILL.md',
    ])
    const { skill: review } = await host.get('skill://studies/a%20b/review/SKILL.md')
    let files = 0
    for (const skill of [...listed, review]) {
      expect(await host.read(skill)).toMatchObject({ mimeType: 'text/markdown', frontmatter: skill.frontmatter })
      for (const { uri } of skill.resources === 'dynamic' ? [] : skill.resources) {
        expect(await host.read(skill, uri)).toMatchObject({ uri, verified: true })
        files++
      }
    }
    expect(files).toBe(12)
    expect(Buffer.from((await host.read(review, 'id.txt')).bytes).toString()).toBe('a b')
    await expect(host.read(listed[0] as never, 'other.md')).rejects.toBeInstanceOf(SkillVerificationError)
    await expect(host.get('skill://studies/none/review/SKILL.md')).rejects.toMatchObject({ code: -32602 })
  })

  test('reads directories, down to the last file', async () => {
    const { host } = await connected(mode)
    const below = async (uri: string): Promise<string[]> => {
      const { resources } = await host.readDirectory(uri)
      const children = resources.map((child) => (child.mimeType === 'inode/directory' ? below(child.uri) : [child.uri]))
      return (await Promise.all(children)).flat()
    }
    const { skill } = await host.get('skill://guide/SKILL.md')
    expect((await below('skill://guide')).sort()).toEqual(urisOf(skill.resources).sort())
  })

  test('is told of a file that has changed', async () => {
    const { client, server } = await connected(mode)
    const told: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri))
    const uri = 'skill://guide/SKILL.md'
    if (mode === 'legacy') await client.subscribeResource({ uri })
    else await client.listen({ resourceSubscriptions: [uri] })
    const tell = async (): Promise<string[]> => {
      await server.notifyResourcesUpdated([uri])
      return told
    }
    await expect.poll(tell, PATIENT).toContain(uri)
  })
})
