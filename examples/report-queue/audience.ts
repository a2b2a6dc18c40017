import { McpError, type Server } from 'phantom-mcp'
import type { Tasks } from 'phantom-mcp/tasks'
import type { Progress, ReportJob } from './reports.js'
import type { Caller } from './router.js'

/**
 * Tells those who wait for a report, from a process that has no clients: the backplane finds who has them. What cannot be told is no
 * reason to stop working: a client may always look at its task.
 */
export class Audience {
  readonly #server: Server
  readonly #jobs: Tasks<Caller>

  constructor(server: Server, jobs: Tasks<Caller>) {
    this.#server = server
    this.#jobs = jobs
  }

  async progress(job: ReportJob, done: number, total: number): Promise<void> {
    const message = `${done} of ${total} chapters`
    await job.updateProgress({ message, at: Date.now() } satisfies Progress)
    const { call } = job.data
    if (call === undefined) this.changed(job.id)
    else quietly(this.#server.notifyProgress(call.progress, done, total, message))
  }

  /** Clients that follow the task are told what it is now. */
  changed(id = ''): void {
    quietly(this.#jobs.notifyUpdated(this.#server, id))
  }

  completed({ id, data: { call } }: ReportJob, report: string): void {
    if (call === undefined) this.changed(id)
    else quietly(this.#server.respond(call.reply, report))
  }

  failed({ id, data: { call } }: ReportJob): void {
    if (call === undefined) return this.changed(id)
    const error = new McpError('INTERNAL_ERROR', 'The report could not be written')
    quietly(this.#server.respondError(call.reply, error))
  }
}

function quietly(told: Promise<unknown>): void {
  told.catch((error: unknown) => console.error(error))
}
