import type { Awaitable } from '../awaitable.js'
import { isToolOutcome } from '../router/extension-outcome.js'
import type { Answer, Question } from '../router/question.js'
import type { Session } from '../router/session.js'

/** The task as its work sees it. */
export interface RunningTask {
  readonly id: string
  /** Aborted when the task is cancelled, or is not this node's to finish any more. Give it to what takes time. */
  readonly signal: AbortSignal
  /**
   * Tells how far the work is. `message`, or the numbers, become the task's `statusMessage`; a client without tasks gets progress
   * of its call. Resolves at once while an earlier one is being written: the last one counts.
   */
  progress(progress: number, total?: number, message?: string): Promise<void>
  /**
   * Asks the client: the task is `input_required` until the answer is there. Several may be open at once. Answers that do not fit
   * are asked for again.
   */
  ask<Content>(question: Question<Content>): Promise<Answer<Content>>
}

/** The work of a task: what it returns is what the tool would return, and what it throws what the tool would throw. */
export type TaskWork = (task: RunningTask) => Awaitable<unknown>

/** What `session.signal`'s counterpart of a task is aborted with. */
export class TaskOver extends Error {
  override readonly name = 'AbortError'
}

/** @throws TypeError where the work returns another task: there is one call, and one end. */
export async function runWork(work: TaskWork, task: RunningTask): Promise<unknown> {
  const value = await work(task)
  if (isToolOutcome(value)) throw new TypeError('jobs.start: the work of a task must not return another task')
  return value
}

/** The same work inside of a call, for a client without tasks. */
export function inCall(id: string, session: Session): RunningTask {
  return {
    id,
    signal: session.signal,
    progress: (progress, total, message) => session.notifyProgress(progress, total, message),
    ask: (question) => session.elicit(question, { key: crypto.randomUUID() }),
  }
}
