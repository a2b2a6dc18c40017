// node examples/report-queue/run.mjs
// Installs this folder's packages where they are missing, starts a Redis, the server and a worker, and drives them over HTTP:
// with a client of tasks, and with the official client, which has none. A line per check, the last line is `N passed, N failed`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exitOnSignals, root, startExample } from '../conformance/example-process.mjs'
import { TaskClient } from './client.mjs'
import { folder, installPackages, startRedis, startWorker } from './processes.mjs'

const ERAS = { '2026-07-28': { pin: '2026-07-28' }, '2025-11-25': 'legacy' }
const YES = { drafts: { action: 'accept', content: { drafts: true } } }
const FIGURES = [
  { title: 'Spring', sum: 12 },
  { title: 'Summer', sum: 30 },
  { title: 'Autumn', sum: 9, draft: true },
  { title: 'Winter', sum: 4 },
]
/** Long enough to be killed in the middle. */
const LONG = Array.from({ length: 10 }, (_, index) => ({ title: `Chapter ${index + 1}`, sum: index }))
const counts = { passed: 0, failed: 0 }

async function main() {
  installPackages()
  await check('it compiles with the types of BullMQ', compiles)
  const { url: REDIS_URL, redis, stop } = await startRedis()
  const { Queue } = createRequire(join(folder, 'package.json'))('bullmq')
  const queue = new Queue('reports', { connection: { url: REDIS_URL } })
  const env = { REDIS_URL, LOCK_MS: '1000', CHAPTER_MS: '100' }
  const figures = (year, chapters) => redis.set(`archive:figures:${year}`, JSON.stringify(chapters))
  await figures(2025, FIGURES)
  await figures(2024, LONG)
  const server = await startExample('examples/report-queue/main', env)
  const here = {
    redis,
    queue,
    figures,
    url: server.url,
    worker: await startWorker(env),
    newWorker: () => startWorker(env),
  }
  here.ada = new TaskClient(server.url, 'ada-token')
  here.bo = new TaskClient(server.url, 'bo-token')
  try {
    await checkTask(here)
    await checkAccess(here)
    await checkCancel(here)
    await checkRetry(here)
    for (const era of Object.keys(ERAS)) await checkCall(here, era)
    await checkKilled(here)
  } finally {
    await queue.close()
    await check('the worker ends cleanly', async () => assert.equal(await here.worker.end('SIGTERM'), 0))
    const wrong = await server.stop()
    await check('the server ends cleanly', () => assert.equal(wrong, undefined, server.printed()))
    stop()
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed > 0 ? 1 : 0
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

function compiles() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
}

/** What `look` gives, as soon as it is something. */
async function eventually(what, look) {
  for (const until = Date.now() + 15_000; Date.now() < until; await sleep(20)) {
    const found = await look()
    if (found) return found
  }
  throw new Error(`it did not come to this: ${what}`)
}

/** The task once it has the status. */
function reaches(client, taskId, status) {
  return eventually(status, async () => {
    const task = await client.get(taskId)
    return task.status === status ? task : undefined
  })
}

const textOf = ({ content }) => content.map(({ text }) => text).join('\n')
const isUnknown = (promise) =>
  assert.rejects(promise, ({ code, message }) => code === -32602 && /no such/i.test(message))

async function checkTask({ ada, queue }) {
  let taskId
  let following
  await check('a call is answered with a task', async () => {
    const { resultType, status, ...task } = await ada.order(2025)
    assert.deepEqual([resultType, status, task.pollIntervalMs], ['task', 'working', 1000])
    taskId = task.taskId
    following = await ada.listen([taskId])
    assert.deepEqual(following.acknowledged, { taskIds: [taskId] })
  })
  await check('the job asks in the middle, and no worker waits for the answer', async () => {
    const { inputRequests } = await reaches(ada, taskId, 'input_required')
    assert.deepEqual(Object.keys(inputRequests), ['drafts'])
    assert.equal(inputRequests.drafts.method, 'elicitation/create')
    assert.equal(await queue.getActiveCount(), 0)
  })
  await check('an answer that does not fit leaves the question open', async () => {
    await ada.update(taskId, { drafts: { action: 'accept', content: { drafts: 'perhaps' } }, other: YES.drafts })
    assert.equal((await ada.get(taskId)).status, 'input_required')
  })
  await check('it goes on with the answer, to its result', async () => {
    await ada.update(taskId, YES)
    const { result } = await reaches(ada, taskId, 'completed')
    assert.equal(textOf(result), 'Report 1, of 2025\nSpring: 12\nSummer: 30\nAutumn: 9\nWinter: 4')
    const { logs } = await queue.getJobLogs(taskId)
    assert.deepEqual(
      logs,
      ['Spring', 'Summer', 'Autumn', 'Winter'].map((title) => `${title} was written`),
    )
  })
  await check('its follower has heard of all that, from the process of the worker', async () => {
    const { heard } = following
    await eventually('the last notification', () => heard.at(-1)?.params.status === 'completed')
    assert.ok(heard.every(({ method }) => method === 'notifications/tasks'))
    // Of several changes at once, only the last one has to be told.
    const said = heard.map(({ params: { status, statusMessage = '' } }) => `${status} ${statusMessage}`.trim())
    for (const expected of [/^working \d of 4 chapters$/, /^input_required$/, /^completed$/])
      assert.ok(
        said.some((one) => expected.test(one)),
        said.join(', '),
      )
    await following.close()
  })
}

async function checkAccess({ ada, bo }) {
  await check('nobody else finds the task', async () => {
    const { taskId } = await ada.order(2025)
    await reaches(ada, taskId, 'input_required')
    for (const asked of [() => bo.get(taskId), () => bo.update(taskId, YES), () => bo.cancel(taskId)])
      await isUnknown(asked())
    const following = await bo.listen([taskId])
    assert.deepEqual(following.acknowledged, { taskIds: [] })
    await following.close()
    assert.equal((await ada.get(taskId)).status, 'input_required')
    await ada.update(taskId, { drafts: { action: 'decline' } })
    assert.equal(
      textOf((await reaches(ada, taskId, 'completed')).result),
      'Report 2, of 2025\nSpring: 12\nSummer: 30\nWinter: 4',
    )
  })
}

async function checkCancel({ ada, queue }) {
  await check('a report that is written is cancelled in the middle of a chapter', async () => {
    const { taskId } = await ada.order(2024)
    await eventually('a chapter', async () => (await ada.get(taskId)).statusMessage?.startsWith('1 of 10'))
    await ada.cancel(taskId)
    await reaches(ada, taskId, 'cancelled')
    const { attemptsMade } = await queue.getJob(taskId)
    assert.equal(attemptsMade, 1)
    const { logs } = await queue.getJobLogs(taskId)
    assert.ok(logs.length < 10, `${logs.length} chapters`)
    await ada.cancel(taskId)
    assert.equal((await ada.get(taskId)).status, 'cancelled')
  })
  await check('so is one that waits for an answer', async () => {
    const { taskId } = await ada.order(2025)
    await reaches(ada, taskId, 'input_required')
    await ada.cancel(taskId)
    await reaches(ada, taskId, 'cancelled')
  })
}

async function checkRetry({ ada, queue, figures }) {
  await check('an attempt that fails is followed by another one', async () => {
    const { taskId } = await ada.order(2027)
    const { statusMessage } = await eventually('a failed attempt', async () => {
      const task = await ada.get(taskId)
      return task.statusMessage ? task : undefined
    })
    assert.equal(statusMessage, 'Attempt 2 of 3 comes soon')
    await figures(2027, [{ title: 'All of it', sum: 1 }])
    assert.equal(textOf((await reaches(ada, taskId, 'completed')).result), 'Report 5, of 2027\nAll of it: 1')
    assert.equal((await queue.getJob(taskId)).attemptsMade, 2)
  })
  await check('the last one ends the task, and says no more than a client is to know', async () => {
    const { taskId } = await ada.order(2028)
    const { error } = await reaches(ada, taskId, 'failed')
    assert.deepEqual(error, { code: -32603, message: 'The report could not be written' })
    const { attemptsMade, failedReason } = await queue.getJob(taskId)
    assert.deepEqual([attemptsMade, failedReason], [3, 'there are no figures of 2028 yet'])
  })
}

/** The same job for clients without tasks: their call waits for it. */
async function checkCall({ url, queue }, era) {
  const client = new Client(
    { name: 'reports', version: '1.0.0' },
    { versionNegotiation: { mode: ERAS[era] }, capabilities: { elicitation: { form: {} } } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { drafts: false } }))
  const requestInit = { headers: { authorization: 'Bearer ada-token' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  const call = (year, options) => client.callTool({ name: 'report', arguments: { year } }, options)
  await check(`${era}: without tasks the call is asked first, hears of progress, and gets the report`, async () => {
    const heard = []
    const result = await call(2025, {
      onprogress: ({ progress, total, message }) => heard.push([progress, total, message]),
    })
    assert.match(textOf(result), /^Report \d+, of 2025\nSpring: 12\nSummer: 30\nWinter: 4$/)
    assert.deepEqual(heard.at(-1), [4, 4, '4 of 4 chapters'])
  })
  await check(`${era}: a call that cannot be answered fails`, () =>
    assert.rejects(call(2028), ({ code, message }) => code === -32603 && /could not be written/.test(message)),
  )
  await check(`${era}: the job ends with its call`, async () => {
    const gone = new AbortController()
    // The official client counts a question as progress, too.
    const onprogress = ({ message }) => message?.includes('chapters') && gone.abort('enough')
    await assert.rejects(call(2024, { signal: gone.signal, onprogress }))
    const failed = async () => (await queue.getJobs(['failed'])).filter(({ data }) => data.year === 2024 && data.call)
    const count = Object.keys(ERAS).indexOf(era) + 1
    await eventually('a job that was cancelled', async () => (await failed()).length === count)
    for (const { failedReason } of await failed()) assert.equal(failedReason, 'cancelled')
  })
  await client.close()
}

async function checkKilled(here) {
  const { ada, redis, queue, worker } = here
  await check('a worker that dies in the middle is followed by another one, and nothing happens twice', async () => {
    const last = Number(await redis.get('archive:last'))
    const { taskId } = await ada.order(2024)
    const following = await ada.listen([taskId])
    await eventually('some chapters', async () =>
      following.heard.some(({ params }) => /^[3-6] of 10/.test(params.statusMessage)),
    )
    assert.equal(await worker.end('SIGKILL'), 'SIGKILL')
    assert.equal(await queue.getJobState(taskId), 'active')
    assert.equal((await ada.get(taskId)).status, 'working')
    here.worker = await here.newWorker()

    const { result } = await reaches(ada, taskId, 'completed')
    const chapters = LONG.map(({ title, sum }) => `${title}: ${sum}`)
    assert.equal(textOf(result), [`Report ${last + 1}, of 2024`, ...chapters].join('\n'))
    const { stalledCounter, attemptsStarted } = await queue.getJob(taskId)
    assert.deepEqual([stalledCounter, attemptsStarted], [1, 2])
    // One number was taken, each chapter was written once, and the job was completed once.
    assert.equal(Number(await redis.get('archive:last')), last + 1)
    const { logs } = await queue.getJobLogs(taskId)
    assert.deepEqual(
      logs,
      LONG.map(({ title }) => `${title} was written`),
    )
    const events = (await redis.xrange('bull:reports:events', '-', '+')).map(([, members]) => members.join(' '))
    assert.equal(events.filter((event) => event.includes(taskId) && event.startsWith('event completed')).length, 1)
    await eventually('the end', () => following.heard.at(-1)?.params.status === 'completed')
    await following.close()
  })
}

exitOnSignals()
await main()
