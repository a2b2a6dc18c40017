import { createHash } from 'node:crypto'
import { createRouter, withCache } from 'phantom-mcp'
import { Skill, skills } from 'phantom-mcp/skills'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeMatrix, verifies } from '../_setup.js'
import { refusalOf, routerOf, simple, urisOf } from './_skills.js'

const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
const README = '---\nname: "git-workflow"\ndescription: "How to: commit"\nlicense: "MIT"\n---\n\n# Commit\n'

function workflow() {
  return Skill.build({
    frontmatter: { name: 'git-workflow', description: 'How to: commit', license: 'MIT' },
    body: '# Commit\n',
    files: { 'references/äh (1).md': 'more', 'scripts/run.sh': 'true', 'logo.bin': new Uint8Array([0xff, 0x00]) },
  })
}

describeMatrix('skills', {}, (setup, { version }) => {
  const stateless = version === '2026-07-28'
  const notFound = stateless ? -32602 : -32002
  const hints = (ttlMs: number, cacheScope: string) => (stateless ? { ttlMs, cacheScope } : {})

  verifies('skills.declared', 'are declared with directoryRead, and with resources', async () => {
    const client = await setup(routerOf(skills()))
    const { capabilities } = client.initialized ?? (await client.request('server/discover'))
    expect(capabilities).toMatchObject({
      extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
      resources: {},
    })
    expect(await client.request('skills/list')).toMatchObject({ skills: [], ...hints(0, 'private') })
    expect((await client.list('resources'))['resources']).toEqual([])
  })

  verifies(['skills.list', 'skills.get'], 'are listed and given with digest and size of each file', async () => {
    const router = routerOf(skills().route('git-workflow', workflow))
    const client = await setup(router)
    const entry = {
      uri: 'skill://git-workflow/SKILL.md',
      frontmatter: { name: 'git-workflow', description: 'How to: commit', license: 'MIT' },
      resources: [
        { uri: 'skill://git-workflow/SKILL.md', digest: sha256(README), size: README.length },
        {
          uri: 'skill://git-workflow/logo.bin',
          digest: `sha256:${createHash('sha256')
            .update(new Uint8Array([0xff, 0]))
            .digest('hex')}`,
          size: 2,
        },
        { uri: 'skill://git-workflow/references/%C3%A4h%20(1).md', digest: sha256('more'), size: 4 },
        { uri: 'skill://git-workflow/scripts/run.sh', digest: sha256('true'), size: 4 },
      ],
    }
    const list = await client.request('skills/list')
    expect(list['skills']).toEqual([entry])
    const got = await client.request('skills/get', { uri: 'skill://git-workflow/SKILL.md' })
    expect(got['skill']).toEqual(entry)
    for (const result of [list, got]) {
      expect([result['ttlMs'], result['cacheScope']]).toEqual(stateless ? [0, 'private'] : [undefined, undefined])
    }
  })

  verifies('skills.read', 'their files are read as they were published', async () => {
    const client = await setup(routerOf(skills().route('git-workflow', workflow)))
    const read = async (path: string) => (await client.readResource(`skill://git-workflow/${path}`)).contents[0]
    expect(await read('SKILL.md')).toEqual({
      uri: 'skill://git-workflow/SKILL.md',
      mimeType: 'text/markdown',
      text: README,
    })
    expect(parse(README.split('---')[1] ?? '')).toEqual({
      name: 'git-workflow',
      description: 'How to: commit',
      license: 'MIT',
    })
    expect(await read('references/%C3%A4h%20(1).md')).toMatchObject({ mimeType: 'text/markdown', text: 'more' })
    expect(await read('scripts/run.sh')).toMatchObject({ mimeType: 'text/plain', text: 'true' })
    expect(await read('logo.bin')).toMatchObject({ mimeType: 'application/octet-stream', blob: '/wA=' })
    for (const path of ['', 'none.md', 'scripts', 'scripts/', 'SKILL.md/', 'skill.md', '%53KILL.md', 'scripts//run.sh'])
      expect(await refusalOf(client.readResource(`skill://git-workflow/${path}`)), path).toMatchObject({
        code: notFound,
      })
  })

  verifies('skills.directory', 'their directories are read, each with its direct children', async () => {
    const client = await setup(routerOf(skills().route('git-workflow', workflow)))
    const read = (uri: string) => client.request('resources/directory/read', { uri })
    expect((await read('skill://git-workflow'))['resources']).toEqual([
      {
        uri: 'skill://git-workflow/SKILL.md',
        name: 'git-workflow',
        description: 'How to: commit',
        mimeType: 'text/markdown',
        size: README.length,
      },
      { uri: 'skill://git-workflow/logo.bin', name: 'logo.bin', size: 2 },
      { uri: 'skill://git-workflow/references', name: 'references', mimeType: 'inode/directory' },
      { uri: 'skill://git-workflow/scripts', name: 'scripts', mimeType: 'inode/directory' },
    ])
    expect(urisOf((await read('skill://git-workflow/scripts'))['resources'])).toEqual([
      'skill://git-workflow/scripts/run.sh',
    ])
    for (const uri of [
      'skill://git-workflow/SKILL.md',
      'skill://git-workflow/',
      'skill://none',
      'skill://git-workflow/script',
      'x',
    ])
      expect(await refusalOf(read(uri)), uri).toMatchObject({ code: -32602, data: { uri } })
    const paged = client.request('resources/directory/read', { uri: 'skill://git-workflow', cursor: 'x' })
    expect(await refusalOf(paged)).toMatchObject({ code: -32602 })
    expect(await refusalOf(client.request('resources/directory/read'))).toMatchObject({ code: -32602 })
  })

  verifies('skills.unknown', 'one that is not there is -32602', async () => {
    const guides = skills()
      .route('git-workflow', workflow)
      .route('hidden', () => null)
    const client = await setup(routerOf(guides))
    for (const uri of [
      'skill://none/SKILL.md',
      'skill://hidden/SKILL.md',
      'skill://git-workflow',
      'skill://git-workflow/scripts/run.sh',
      'SKILL://git-workflow/SKILL.md',
      'skill://git%2Dworkflow/SKILL.md',
      'skill://git-workflow/SKILL.md#x',
      'skill://git-workflow/SKILL.md?x',
    ])
      expect(await refusalOf(client.request('skills/get', { uri })), uri).toMatchObject({ code: -32602, data: { uri } })
    expect(await refusalOf(client.request('skills/get', {}))).toMatchObject({ code: -32602 })
    expect(urisOf((await client.request('skills/list'))['skills'])).toEqual(['skill://git-workflow/SKILL.md'])
  })

  verifies(
    'skills.resources',
    'SKILL.md files are listed among the resources, by what their front matter says',
    async () => {
      const router = routerOf(
        skills()
          .route('git-workflow', workflow)
          .route('studies/:id/review', () => simple('review')),
      )
      router.resource('test://one', { name: 'one' }, () => '1')
      const client = await setup(router)
      expect((await client.list('resources'))['resources']).toEqual([
        { uri: 'test://one', name: 'one' },
        {
          uri: 'skill://git-workflow/SKILL.md',
          name: 'git-workflow',
          description: 'How to: commit',
          mimeType: 'text/markdown',
          size: README.length,
        },
      ])
    },
  )

  test('variables of a path reach the handler, decoded', async () => {
    const seen: string[] = []
    const guides = skills().route('studies/:id/review', ({ id }) => {
      seen.push(id)
      return id === 'none' ? null : simple('review')
    })
    const client = await setup(routerOf(guides))
    expect((await client.readResource('skill://studies/a%20b/review/SKILL.md')).contents).toHaveLength(1)
    expect(await refusalOf(client.readResource('skill://studies/none/review/SKILL.md'))).toMatchObject({
      code: notFound,
    })
    for (const id of ['..', '.', '%2E%2E', 'a%2Fb', 'a%5Cb', '%00', '%', '%E4'])
      await refusalOf(client.readResource(`skill://studies/${id}/review/SKILL.md`))
    expect(seen).toEqual(['a b', 'none'])
    expect((await client.request('skills/list'))['skills']).toEqual([])
  })

  test('dynamic ones have no digests', async () => {
    let count = 0
    const guides = skills().route('clock', () =>
      Skill.build({
        frontmatter: { name: 'clock', description: 'Counts' },
        body: () => `${++count}`,
        resources: 'dynamic',
      }),
    )
    const client = await setup(routerOf(guides))
    expect((await client.request('skills/list'))['skills']).toMatchObject([{ resources: 'dynamic' }])
    const { contents } = await client.readResource('skill://clock/SKILL.md')
    expect(contents[0]).toMatchObject({ text: expect.stringMatching(/---\n\n1$/) })
  })

  test('contents that are made when they are asked for have digests too', async () => {
    const files = { 'a.txt': () => 'lazy', 'b.bin': async () => new Uint8Array([1]) }
    const frontmatter = { name: 'lazy', description: 'Later' }
    const client = await setup(routerOf(skills().route('lazy', () => Skill.build({ frontmatter, body: '', files }))))
    const { skill } = await client.request('skills/get', { uri: 'skill://lazy/SKILL.md' })
    expect(skill).toMatchObject({
      resources: [{}, { uri: 'skill://lazy/a.txt', digest: sha256('lazy'), size: 4 }, { size: 1 }],
    })
  })

  test('a callback lists what it wants, with its own cursor', async () => {
    const guides = skills({
      list: (cursor) =>
        cursor === undefined
          ? Skill.list(['skill://studies/1/review/SKILL.md', 'skill://studies/none/review/SKILL.md'], 'next')
          : Skill.list(['skill://b/SKILL.md', 'skill://b', 'nonsense']),
    })
    guides.route('studies/:id/review', ({ id }) => (id === 'none' ? null : simple('review')))
    guides.route('b', () => simple('b')).route('c', () => simple('c'))
    const client = await setup(routerOf(guides))
    const first = await client.request('skills/list')
    expect([urisOf(first['skills']), first['nextCursor']]).toEqual([['skill://studies/1/review/SKILL.md'], 'next'])
    const second = await client.request('skills/list', { cursor: 'next' })
    expect([urisOf(second['skills']), second['nextCursor']]).toEqual([['skill://b/SKILL.md'], undefined])
    const files = await client.list('resources')
    const more = await client.list('resources', files.nextCursor)
    expect([...urisOf(files['resources']), ...urisOf(more['resources'])]).toEqual([
      'skill://studies/1/review/SKILL.md',
      'skill://b/SKILL.md',
    ])
    expect((await client.request('skills/get', { uri: 'skill://c/SKILL.md' }))['skill']).toBeDefined()
  })

  test('are listed by their path, in pages of the router', async () => {
    const guides = skills()
    for (const path of ['c', 'a/b', 'a', 'b']) guides.route(path, () => simple(path.at(-1) ?? ''))
    const client = await setup(routerOf(guides, 3))
    const first = await client.request('skills/list')
    const second = await client.request('skills/list', { cursor: first['nextCursor'] })
    expect([...urisOf(first['skills']), ...urisOf(second['skills'])]).toEqual(
      ['a', 'a/b', 'b', 'c'].map((path) => `skill://${path}/SKILL.md`),
    )
    expect([first, second].map(({ skills: page }) => (page as unknown[]).length)).toEqual([3, 1])
    expect(await refusalOf(client.request('skills/list', { cursor: 'x' }))).toMatchObject({ code: -32602 })
    expect(await refusalOf(client.request('skills/list', { cursor: 1 }))).toMatchObject({ code: -32602 })
  })

  test('a handler that fails costs its own skill only', async () => {
    const guides = skills()
      .route('broken', () => {
        throw new Error('away')
      })
      .route('misnamed', () => simple('other'))
      .route('wrong', () => 'text' as never)
      .route('good', () => simple('good'))
    const client = await setup(routerOf(guides))
    expect(urisOf((await client.request('skills/list'))['skills'])).toEqual(['skill://good/SKILL.md'])
    expect(setup.takeErrors().map(String)).toEqual([
      'Error: away',
      "TypeError: skill 'misnamed': the skill is called 'other', but its path ends with 'misnamed'",
      "TypeError: skill 'wrong': its handler must return Skill.build(…), fromDirectory(…) or null",
    ])
    expect(await refusalOf(client.readResource('skill://misnamed/SKILL.md'))).toEqual({
      code: -32603,
      message: 'Internal error',
      data: undefined,
    })
    setup.expectErrors(1)
  })

  if (!stateless) return

  test('may be kept for as long as the shortest of them says', async () => {
    const guides = skills()
      .route('a', () => withCache(simple('a'), { ttlMs: 5000, scope: 'public' }))
      .route('b', () => withCache(simple('b'), { ttlMs: 3000, scope: 'public' }))
    const client = await setup(routerOf(guides))
    expect(await client.request('skills/list')).toMatchObject({ ttlMs: 3000, cacheScope: 'public' })
    expect(await client.request('skills/get', { uri: 'skill://a/SKILL.md' })).toMatchObject({
      ttlMs: 5000,
      cacheScope: 'public',
    })
    expect(await client.readResource('skill://a/SKILL.md')).toMatchObject({ ttlMs: 5000, cacheScope: 'public' })
    guides.route('hidden', () => null)
    expect(await client.request('skills/list')).toMatchObject({ ttlMs: 3000, cacheScope: 'private' })
    guides.route('c', () => withCache(simple('c'), { ttlMs: 1000 }))
    expect(await client.request('skills/list')).toMatchObject({ ttlMs: 1000, cacheScope: 'private' })
    guides.route('d', () => simple('d'))
    expect(await client.request('skills/list')).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  })

  test('a route that comes while the server runs is told', async () => {
    const guides = skills()
    const client = await setup(routerOf(guides))
    const listening = client.requestAs('l', {
      method: 'subscriptions/listen',
      params: { notifications: { resourcesListChanged: true } },
    })
    listening.catch(() => undefined)
    await expect.poll(() => client.notified('notifications/subscriptions/acknowledged')).toHaveLength(1)
    guides.route('new', () => simple('new'))
    await expect.poll(() => client.notified('notifications/resources/list_changed')).toHaveLength(1)
  })
})

describeMatrix('nested skills and allow-lists', {}, (setup) => {
  const nested = () =>
    skills()
      .route('guide', () => simple('guide', { 'own.md': 'own', 'deep/part/stolen.md': 'never served' }))
      .route('guide/deep/part', () => simple('part', { 'x.md': 'x' }))

  test('a nested skill owns its directory, and its files are in the list around it', async () => {
    const client = await setup(routerOf(nested()))
    const list = (await client.request('skills/list'))['skills'] as { resources: unknown }[]
    expect(list.map(({ resources }) => urisOf(resources))).toEqual([
      [
        'skill://guide/SKILL.md',
        'skill://guide/deep/part/SKILL.md',
        'skill://guide/deep/part/x.md',
        'skill://guide/own.md',
      ],
      ['skill://guide/deep/part/SKILL.md', 'skill://guide/deep/part/x.md'],
    ])
    const directory = await client.request('resources/directory/read', { uri: 'skill://guide/deep' })
    expect(directory['resources']).toEqual([
      { uri: 'skill://guide/deep/part', name: 'part', mimeType: 'inode/directory' },
    ])
    await refusalOf(client.readResource('skill://guide/deep/part/stolen.md'))
    expect((await client.readResource('skill://guide/deep/part/x.md')).contents).toHaveLength(1)
  })

  const withAllowed = (allowed: readonly string[]) =>
    createRouter({
      name: 'test',
      version: '1.0.0',
      extensions: [
        nested().route('studies/:id/review', () => withCache(simple('review'), { ttlMs: 9, scope: 'public' })),
      ],
      connect: (session) => session.allowResourceTemplates(allowed),
      principal: () => null,
    })

  test('an allow-list has paths; one that is allowed covers what is nested in it', async () => {
    const client = await setup(withAllowed(['guide']))
    expect(urisOf((await client.request('skills/list'))['skills'])).toHaveLength(2)
    await refusalOf(client.readResource('skill://studies/1/review/SKILL.md'))
  })

  test('a nested one can be allowed alone', async () => {
    const client = await setup(withAllowed(['guide/deep/part', 'studies/:id/review']))
    expect(urisOf((await client.request('skills/list'))['skills'])).toEqual(['skill://guide/deep/part/SKILL.md'])
    await refusalOf(client.readResource('skill://guide/own.md'))
    await refusalOf(client.request('resources/directory/read', { uri: 'skill://guide' }))
    const { cacheScope = 'private' } = await client.readResource('skill://studies/1/review/SKILL.md')
    expect(cacheScope).toBe('private')
  })

  test('a directory of one that is hidden is not served by the one around it', async () => {
    const guides = skills()
      .route('guide', () => simple('guide', { 'deep/part/stolen.md': 'never served' }))
      .route('guide/deep/part', () => null)
    const client = await setup(routerOf(guides))
    await refusalOf(client.readResource('skill://guide/deep/part/stolen.md'))
    await refusalOf(client.request('resources/directory/read', { uri: 'skill://guide/deep' }))
    const { skill } = await client.request('skills/get', { uri: 'skill://guide/SKILL.md' })
    expect(urisOf((skill as { resources: unknown }).resources)).toEqual(['skill://guide/SKILL.md'])
  })

  test('one that is dynamic makes the one around it dynamic', async () => {
    const frontmatter = { name: 'part', description: 'Part' }
    const guides = skills()
      .route('guide', () => simple('guide'))
      .route('guide/part', () => Skill.build({ frontmatter, body: '', resources: 'dynamic' }))
    const client = await setup(routerOf(guides))
    const list = (await client.request('skills/list'))['skills']
    expect(list).toMatchObject([{ resources: 'dynamic' }, { resources: 'dynamic' }])
  })
})
