// A process that writes reports, and has no clients. Run as many as there is work for.
// LOCK_MS is how long the queue waits for one that says nothing, 30 seconds unless set; CHAPTER_MS how long a chapter takes.
import { Worker } from 'bullmq'
import { onSignal, openApp } from './app.js'
import { Audience } from './audience.js'
import { CANCELLED, type Order, QUEUE } from './reports.js'
import { Writer } from './writer.js'

const { server, jobs, reports, archive, url, close } = openApp()
const lockMs = Number(process.env['LOCK_MS'] ?? 30_000)
const chapterMs = Number(process.env['CHAPTER_MS'] ?? 1_000)
const never = new AbortController().signal
const audience = new Audience(server, jobs)
const writer = new Writer({ reports, archive, audience, chapterMs })

const worker = new Worker<Order, string>(
  QUEUE,
  // BullMQ gives a signal to a function that has a third parameter.
  (job, token, signal) => writer.write({ job, id: job.id ?? '', token: token ?? '', signal: signal ?? never }),
  { connection: { url }, concurrency: 4, lockDuration: lockMs, stalledInterval: lockMs / 2, maxStalledCount: 3 },
)
worker.on('completed', (job, report) => audience.completed(job, report))
worker.on('failed', (job, error) => {
  if (error.message !== CANCELLED) console.error(error)
  if (job?.finishedOn !== undefined) audience.failed(job)
})
worker.on('error', console.error)

await reports.onCancel((id) => worker.cancelJob(id))
await worker.waitUntilReady()
onSignal(() => worker.close().then(() => close()))
console.error(`Writing reports, process ${process.pid}`)
