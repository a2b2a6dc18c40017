// node examples/studies/run.mjs
// Installs this folder's packages where they are missing, serves the studies from a database file on a free port, and
// drives them with the official client, at each of its eras, and with plain requests. A line per check, the last line is
// `N passed, N failed`.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exitOnSignals, startExample } from '../conformance/example-process.mjs'
import { installPackages, typesAgree } from './packages.mjs'

const ERAS = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' }
const ARCHIVED = 3
const counts = { passed: 0, failed: 0 }
const open = []

async function main() {
  installPackages()
  const temporary = mkdtempSync(join(tmpdir(), 'phantom-studies-'))
  process.env.STUDIES_DB = join(temporary, 'studies.db')
  try {
    await check('what is declared of better-sqlite3 agrees with its types', typesAgree)
    await served(async (url) => {
      await checkDoor(url)
      for (const era of Object.keys(ERAS)) await checkEra(url, era)
    })
    await served(checkKept)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed > 0 ? 1 : 0
}

async function served(run) {
  const server = await startExample('examples/studies/main')
  try {
    await run(server.url)
  } finally {
    for (const client of open.splice(0)) await client.close()
    const wrong = await server.stop()
    await check('the server ends cleanly', () => assert.equal(wrong, undefined, server.printed()))
  }
}

async function check(title, run) {
  try {
    await run()
    counts.passed++
    console.log(`PASS ${title}`)
  } catch (error) {
    counts.failed++
    console.log(`FAIL ${title}\n    ${String(error?.stack ?? error).replaceAll('\n', '\n    ')}`)
  }
}

async function connectAs(url, era, token) {
  const client = new Client({ name: 'studies', version: '1.0.0' }, { versionNegotiation: { mode: ERAS[era] } })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  open.push(client)
  return client
}

const names = (list) => list.map(({ name }) => name)
const textOf = (result) => result.content.find(({ type }) => type === 'text')?.text
const uriOf = (id) => `https://example.com/studies/${id}/md`
const rejectsWith = (promise, code, data) => assert.rejects(promise, (error) => isError(error, code, data))

function isError(error, code, data) {
  assert.equal(error.code, code, error.message)
  if (data !== undefined) assert.deepEqual(error.data, data)
  return true
}

/** The client knows one code for what is missing, whichever the era has. */
const misses = (promise, uri) => rejectsWith(promise, -32602, { uri })

async function checkDoor(url) {
  const ask = (token) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', clientInfo: { name: 'x', version: '1' }, capabilities: {} },
      }),
    })
  await check('who says no name, or a false one, is asked to', async () => {
    for (const token of [undefined, '', 'eve-token']) {
      const response = await ask(token)
      assert.equal(response.status, 401)
      assert.equal(
        response.headers.get('www-authenticate'),
        'Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"',
      )
    }
  })
  await check('who is suspended is told so', async () => {
    const response = await ask('dee-token')
    assert.equal(response.status, 403)
    assert.match(await response.text(), /upgrade your plan/)
  })
  await check('who is known is let in', async () => assert.equal((await ask('ada-token')).status, 200))
}

async function checkEra(url, era) {
  const ada = await connectAs(url, era, 'ada-token')
  const bo = await connectAs(url, era, 'bo-token')
  const cy = await connectAs(url, era, 'cy-token')
  const here = (title, run) => check(`${era}: ${title}`, run)
  await here('the era is spoken', () => assert.equal(ada.getNegotiatedProtocolVersion(), era))
  await checkSearch(here, { ada, cy })
  await checkCreate(here, { era, ada, bo, cy })
  await checkPrompt(here, { ada, cy })
  await checkCompletion(here, { ada, cy })
  await checkResources(here, { ada, cy })
  await checkPlans(here, { ada, bo })
  if (era === '2025-11-25') await checkSubscriptions(here, { ada })
}

async function checkSearch(here, { ada, cy }) {
  const search = async (input, client = ada) => {
    const result = await client.callTool({ name: 'search_studies', arguments: input })
    return { ...result.structuredContent, isError: result.isError, text: textOf(result) }
  }
  await here('search_studies is listed with its fields', async () => {
    const { tools } = await ada.listTools()
    assert.deepEqual(names(tools), ['create_question', 'search_studies'])
    const { inputSchema, annotations } = tools[1]
    assert.deepEqual(inputSchema.required, ['query'])
    assert.deepEqual(inputSchema.properties.status, { type: 'string', enum: ['draft', 'active', 'archived'] })
    assert.deepEqual(inputSchema.properties.limit, { type: 'integer', minimum: 1, maximum: 100, default: 10 })
    assert.deepEqual(annotations, { readOnlyHint: true, openWorldHint: false })
  })
  await here('search_studies finds, with its default limit', async () => {
    const { total, studies } = await search({ query: 'COFFEE' })
    assert.equal(total, 20)
    assert.equal(studies.length, 10)
    assert.deepEqual(studies[0], { id: 1, title: 'Coffee study 1', status: 'draft', price: 10, uri: uriOf(1) })
  })
  await here('search_studies narrows by every option', async () => {
    const ids = async (input) => (await search(input)).studies.map(({ id }) => id)
    assert.deepEqual(await ids({ query: 'coffee', limit: 2 }), [1, 7])
    assert.deepEqual(await ids({ query: 'coffee', status: 'archived', limit: 3 }), [7, 19, 31])
    assert.deepEqual(await ids({ query: '', tags: ['sleep', 'odd'], limit: 2 }), [3, 9])
    assert.deepEqual(await ids({ query: '', tags: ['sleep', 'even'] }), [])
    assert.deepEqual(
      await ids({ query: 'coffee', filters: { category: 'consumer', min_price: 1000 } }),
      [103, 109, 115],
    )
    assert.deepEqual(await ids({ query: 'coffee', filters: { category: 'health' } }), [])
    assert.deepEqual(await ids({ query: "x' OR 1=1 --" }), [])
    assert.equal((await search({ query: '' }, cy)).total, 2)
  })
  await here('search_studies tells all that is wrong with its arguments', async () => {
    const { isError, text } = await search({
      limit: 0,
      status: 'gone',
      tags: ['ok', 'No!'],
      filters: { min_price: -1 },
    })
    assert.equal(isError, true)
    const errors = [
      'query is required',
      'limit must be at least 1',
      'status must be one of "draft", "active", "archived"',
      'tags[1] must be a lower-case word',
      'filters.min_price must be at least 0',
    ]
    assert.ok(text.endsWith(errors.join('; ')), text)
  })
}

async function checkCreate(here, { era, ada, bo, cy }) {
  const label = `Asked in ${era}`
  const input = { study_id: 1, label, description: 'What would you change?' }
  const create = (client, more = {}) => client.callTool({ name: 'create_question', arguments: { ...input, ...more } })
  await here('create_question keeps the question, and links it', async () => {
    const result = await create(ada)
    const link = result.content.find(({ type }) => type === 'resource_link')
    assert.equal(link.name, 'question')
    assert.equal(link.title, label)
    const [{ text, mimeType }] = (await ada.readResource({ uri: link.uri })).contents
    assert.equal(mimeType, 'application/json')
    const { id, ...question } = JSON.parse(text)
    assert.equal(link.uri, `myapp:///questions/${id}`)
    assert.deepEqual(question, { studyId: 1, label, description: 'What would you change?' })
    const [study] = (await ada.readResource({ uri: uriOf(1) })).contents
    assert.ok(study.text.includes(`## ${label}\n\nWhat would you change?\n`), study.text)
  })
  await here('create_question links the study where the plan hides questions', async () => {
    const result = await create(bo, { label: `${label} by Bo` })
    assert.equal(result.content.find(({ type }) => type === 'resource_link').uri, uriOf(1))
  })
  await here('create_question refuses what cannot be kept', async () => {
    for (const result of [
      await create(ada),
      await create(cy),
      await create(ada, { study_id: ARCHIVED }),
      await create(ada, { study_id: 4711 }),
    ]) {
      assert.equal(result.isError, true)
      assert.match(textOf(result), /takes no question/)
    }
  })
}

async function checkPrompt(here, { ada, cy }) {
  const get = (client, given) => client.getPrompt({ name: 'suggest_questions', arguments: given })
  await here('suggest_questions embeds the study and its cover', async () => {
    const { messages, description } = await get(ada, { study_id: '2', audience: 'commuters' })
    assert.match(description, /^Review the provided Study/)
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content.type]),
      [
        ['assistant', 'resource'],
        ['assistant', 'image'],
        ['user', 'text'],
      ],
    )
    const [study, cover, asked] = messages.map(({ content }) => content)
    assert.equal(study.resource.uri, uriOf(2))
    assert.equal(study.resource.mimeType, 'text/markdown')
    assert.match(study.resource.text, /^# Commuting study 2\n/)
    assert.match(cover.data, /^iVBORw0KGgo/)
    assert.equal(asked.text, 'What is missing, asked of commuters?')
    assert.deepEqual(
      (await get(ada, { study_id: '5' })).messages.map(({ content }) => content.type),
      ['resource', 'text'],
    )
  })
  await here('suggest_questions needs a study of the account', async () => {
    await rejectsWith(get(ada, {}), -32602)
    await misses(get(ada, { study_id: '121' }), uriOf(121))
    await misses(get(cy, { study_id: '1' }), uriOf(1))
  })
}

async function checkCompletion(here, { ada, cy }) {
  const prompt = { type: 'ref/prompt', name: 'suggest_questions' }
  const complete = async (client, ref, value) =>
    (await client.complete({ ref, argument: { name: 'study_id', value } })).completion
  await here('studies are completed, of the account and a hundred at most', async () => {
    assert.deepEqual(await complete(ada, prompt, '12'), { values: ['12', '120'], total: 2, hasMore: false })
    assert.deepEqual(await complete(cy, prompt, '12'), { values: ['121', '122'], total: 2, hasMore: false })
    assert.deepEqual(await complete(ada, prompt, '%'), { values: [], total: 0, hasMore: false })
    const all = await complete(ada, prompt, '')
    assert.equal(all.values.length, 100)
    assert.deepEqual([all.values[0], all.values[99], all.total, all.hasMore], ['1', '100', 120, true])
  })
  await here('and so are the variables of both templates', async () => {
    for (const uri of ['https://example.com/studies/{study_id}/md', 'myapp:///studies/{study_id}/cover']) {
      assert.deepEqual((await complete(ada, { type: 'ref/resource', uri }, '11')).values.slice(0, 3), [
        '11',
        '110',
        '111',
      ])
    }
  })
}

async function checkResources(here, { ada, cy }) {
  await here('resources are listed page by page, by key', async () => {
    const pages = []
    let cursor
    do {
      const page = await ada.request({ method: 'resources/list', params: cursor === undefined ? {} : { cursor } })
      pages.push(page.resources)
      cursor = page.nextCursor
    } while (cursor !== undefined && pages.length < 9)
    assert.deepEqual(
      pages.map(({ length }) => length),
      [50, 50, 20],
    )
    assert.deepEqual(
      pages.flat().map(({ uri }) => uri),
      Array.from({ length: 120 }, (_, index) => uriOf(index + 1)),
    )
    assert.equal(pages[0][0].title, 'Coffee study 1')
    for (const wrong of ['x', 'YWZ0ZXIgeA']) {
      await rejectsWith(ada.request({ method: 'resources/list', params: { cursor: wrong } }), -32602)
    }
  })
  await here('templates are listed', async () => {
    const { resourceTemplates } = await ada.listResourceTemplates()
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate, mimeType }) => [uriTemplate, mimeType]),
      [
        ['https://example.com/studies/{study_id}/md', 'text/markdown'],
        ['myapp:///studies/{study_id}/cover', 'image/png'],
        ['myapp:///questions/{question_id}', 'application/json'],
      ],
    )
  })
  await here('a study is Markdown, and its cover a picture', async () => {
    const [study] = (await cy.readResource({ uri: uriOf(121) })).contents
    assert.deepEqual(
      { ...study, text: study.text.split('\n', 1)[0] },
      { uri: uriOf(121), mimeType: 'text/markdown', text: '# Coffee study 121' },
    )
    const [cover] = (await ada.readResource({ uri: 'myapp:///studies/1/cover' })).contents
    assert.equal(cover.mimeType, 'image/png')
    assert.deepEqual([...Buffer.from(cover.blob, 'base64').subarray(1, 4)], [...Buffer.from('PNG')])
  })
  await here('what the account does not have is not there', async () => {
    const uris = [uriOf(121), uriOf(0), uriOf('1x'), uriOf(''), 'myapp:///studies/5/cover', 'myapp:///questions/4711']
    for (const uri of uris) await misses(ada.readResource({ uri }), uri)
  })
}

async function checkPlans(here, { ada, bo }) {
  await here('the basic plan sees one tool and one template', async () => {
    assert.deepEqual(names((await bo.listTools()).tools), ['create_question'])
    assert.deepEqual(names((await bo.listResourceTemplates()).resourceTemplates), ['study'])
    assert.deepEqual(names((await bo.listPrompts()).prompts), ['suggest_questions'])
    assert.deepEqual(names((await ada.listTools()).tools), ['create_question', 'search_studies'])
  })
  await here('the basic plan cannot use what it does not see', async () => {
    await rejectsWith(bo.callTool({ name: 'search_studies', arguments: { query: '' } }), -32602)
    const uri = 'myapp:///studies/1/cover'
    await misses(bo.readResource({ uri }), uri)
    assert.match((await bo.readResource({ uri: uriOf(1) })).contents[0].text, /^# Coffee study 1\n/)
  })
}

async function checkSubscriptions(here, { ada }) {
  await here('studies of the account can be followed, and no others', async () => {
    await ada.subscribeResource({ uri: uriOf(1) })
    await misses(ada.subscribeResource({ uri: uriOf(121) }), uriOf(121))
    await ada.unsubscribeResource({ uri: uriOf(1) })
  })
}

/** The second start: the database is a file. */
async function checkKept(url) {
  const ada = await connectAs(url, '2026-07-28', 'ada-token')
  await check('what was created is there after a restart', async () => {
    const [study] = (await ada.readResource({ uri: uriOf(1) })).contents
    for (const era of Object.keys(ERAS)) assert.ok(study.text.includes(`## Asked in ${era}\n`), study.text)
    const result = await ada.callTool({ name: 'search_studies', arguments: { query: '' } })
    assert.equal(result.structuredContent.total, 120)
  })
}

exitOnSignals()
try {
  await main()
} catch (error) {
  console.error(error)
  console.log(`${counts.passed} passed, ${counts.failed + 1} failed`)
  process.exitCode = 1
}
