import { type Job, type JobState, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { type CallRef, Elicit, type Form, field, McpError, type ProgressRef, type PubSub } from 'phantom-mcp'
import { Task, type TaskChange } from 'phantom-mcp/tasks'

/** What is ordered. Whoever works on the job may change it, and nobody else. */
export interface Order {
  readonly owner: string
  readonly year: number
  /** Whether drafts are to be in it; undefined while nobody has said so. */
  readonly drafts?: boolean
  /** Set while its owner is asked: when they will not be waited for any more. */
  readonly askedUntil?: number
  /** The open call that waits for it, of a client without tasks. */
  readonly call?: { readonly reply: CallRef; readonly progress: ProgressRef | null }
}

export type ReportJob = Job<Order, string>

/** How far a job is, and since when. */
export type Progress = { readonly message: string; readonly at: number }

/** What clients say of a report while it is written. */
export interface Said {
  readonly drafts?: 'yes' | 'no'
  readonly cancelled?: 'yes'
}

export const QUEUE = 'reports'
export const CANCELLED = 'cancelled'
export const DRAFTS: Form<{ drafts: boolean }> = Elicit.form({
  message: 'Some chapters are drafts. Do you want them in the report?',
  fields: { drafts: field.boolean({ required: true }) },
})

const DAY_MS = 86_400_000
const ATTEMPTS = 3

/** The reports as the queue has them: there is no other record of them. */
export class Reports {
  readonly queue: Queue<Order, string>
  readonly #redis: Redis
  readonly #bell: PubSub

  constructor({ redis, url, bell }: { readonly redis: Redis; readonly url: string; readonly bell: PubSub }) {
    this.queue = new Queue(QUEUE, { connection: { url } })
    this.#redis = redis
    this.#bell = bell
  }

  async order(order: Order): Promise<string> {
    const jobId = Task.id()
    const keep = { age: DAY_MS / 1000 }
    await this.queue.add('write', order, {
      jobId,
      attempts: ATTEMPTS,
      backoff: { type: 'exponential', delay: 250 },
      removeOnComplete: keep,
      removeOnFail: keep,
    })
    return jobId
  }

  /** The task of a job; null where it is not there, or is somebody else's. */
  async task(id: string, owner: string): Promise<Task | null> {
    // The state first: what it says of a job is in the job by then.
    const state = await this.queue.getJobState(id)
    const job = await this.queue.getJob(id)
    return job === undefined || job.data.owner !== owner ? null : toTask(job, state)
  }

  async said(id: string): Promise<Said> {
    return await this.#redis.hgetall(saidKey(id))
  }

  async answer(id: string, drafts: boolean): Promise<void> {
    await this.#say(id, { drafts: drafts ? 'yes' : 'no' })
  }

  /** Whoever works on it hears of it at once; whoever takes it later finds it said. */
  async cancel(id: string): Promise<void> {
    await this.#say(id, { cancelled: 'yes' })
    await this.#bell.publish('reports:cancel', id)
  }

  onCancel(listener: (id: string) => void): Promise<unknown> {
    return this.#bell.subscribe('reports:cancel', listener)
  }

  /** A job that waits for its owner, or for its next attempt, waits no longer. */
  async wake(id: string): Promise<void> {
    const job = await this.queue.getJob(id)
    try {
      await job?.promote()
    } catch (error) {
      if ((await job?.getState()) === 'delayed') throw error
    }
  }

  close(): Promise<void> {
    return this.queue.close()
  }

  async #say(id: string, said: Said): Promise<void> {
    await this.#redis
      .multi()
      .hset(saidKey(id), { ...said })
      .pexpire(saidKey(id), DAY_MS)
      .exec()
    await this.wake(id)
  }
}

const saidKey = (id: string): string => `reports:said:${id}`

function toTask(job: ReportJob, state: JobState | 'unknown'): Task {
  const { id = '', timestamp, finishedOn } = job
  return Task.build({
    id,
    createdAt: timestamp,
    lastUpdatedAt: finishedOn ?? progressOf(job)?.at ?? timestamp,
    ttlMs: DAY_MS,
    pollIntervalMs: 1000,
    ...statusOf(job, state),
  })
}

function statusOf(job: ReportJob, state: JobState | 'unknown'): TaskChange & Pick<Task, 'status'> {
  switch (state) {
    case 'completed':
      return { status: 'completed', result: job.returnvalue }
    case 'failed':
      if (job.failedReason === CANCELLED) return { status: 'cancelled' }
      // What went wrong is for those who run this, and may say more than a client is to know.
      return { status: 'failed', error: new McpError('INTERNAL_ERROR', 'The report could not be written') }
    case 'delayed':
      if (job.data.askedUntil !== undefined) return { status: 'input_required', inputRequests: { drafts: DRAFTS } }
      return { status: 'working', statusMessage: `Attempt ${job.attemptsMade + 1} of ${ATTEMPTS} comes soon` }
    default:
      return { status: 'working', statusMessage: progressOf(job)?.message }
  }
}

/** BullMQ has 0 there before the first one. */
function progressOf({ progress }: ReportJob): Progress | undefined {
  return typeof progress === 'object' ? (progress as Progress) : undefined
}
