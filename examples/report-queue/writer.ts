import { setTimeout as sleep } from 'node:timers/promises'
import { DelayedError, UnrecoverableError } from 'bullmq'
import type { Archive } from './archive.js'
import type { Audience } from './audience.js'
import { CANCELLED, type ReportJob, type Reports } from './reports.js'

export interface WriterOptions {
  readonly reports: Reports
  readonly archive: Archive
  readonly audience: Audience
  /** How long a chapter takes. */
  readonly chapterMs: number
}

/** The run of a job that the queue has handed out, and how to hold it. */
export interface Run {
  readonly job: ReportJob
  readonly id: string
  readonly token: string
  /** Aborted when the report is cancelled. */
  readonly signal: AbortSignal
}

const ANSWER_MS = 3_600_000

/**
 * Writes reports. A process may die in the middle, and the queue then gives the job to another one, which begins again: so what is
 * done is looked up before it is done, and is kept by the id of the report.
 */
export class Writer {
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
  }

  async write(run: Run): Promise<string> {
    try {
      return await this.#write(run)
    } catch (error) {
      if (error instanceof DelayedError || !(await this.#cancelled(run.id))) throw error
      // Nobody wants another attempt.
      throw new UnrecoverableError(CANCELLED)
    }
  }

  async #write(run: Run): Promise<string> {
    const { job, id, signal } = run
    const { archive, audience, chapterMs } = this.#options
    const chapters = await archive.chapters(job.data.year)
    const number = await archive.number(id)
    const written = await archive.read(id)
    const report: string[] = [`Report ${number}, of ${job.data.year}`]
    for (const [index, { title, sum, draft }] of chapters.entries()) {
      if (await this.#cancelled(id)) throw new Error(CANCELLED)
      if (draft && !(await this.#draftsWanted(run))) continue
      const text = written[title] ?? `${title}: ${sum}`
      if (!Object.hasOwn(written, title)) {
        await sleep(chapterMs, undefined, { signal })
        await archive.write(id, title, text)
        await job.log(`${title} was written`)
        await audience.progress(job, index + 1, chapters.length)
      }
      report.push(text)
    }
    return report.join('\n')
  }

  /** Asks the owner, and gives the job back until there is an answer: nothing waits for it here, and no lock is held. */
  async #draftsWanted({ job, id, token }: Run): Promise<boolean> {
    const { reports, audience } = this.#options
    const { askedUntil = Date.now() + ANSWER_MS, ...order } = job.data
    if (order.drafts !== undefined) return order.drafts
    const { drafts } = await reports.said(id)
    if (drafts === undefined && Date.now() < askedUntil) {
      await job.updateData({ ...order, askedUntil })
      await job.moveToDelayed(askedUntil, token)
      // Whoever cancelled it a moment ago found a job that was not waiting.
      if (await this.#cancelled(id)) await reports.wake(id)
      audience.changed(id)
      throw new DelayedError()
    }
    await job.updateData({ ...order, drafts: drafts === 'yes' })
    return drafts === 'yes'
  }

  async #cancelled(id: string): Promise<boolean> {
    return (await this.#options.reports.said(id)).cancelled !== undefined
  }
}
