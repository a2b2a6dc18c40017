import type { Awaitable } from '../awaitable.js'
import type { ClientCapabilities } from '../protocol/model.js'

import type { Members } from './members.js'

/** What a test's user answers: the content of the form, which accepts it, or another choice. */
export type ElicitAnswer = Members | 'accept' | 'decline' | 'cancel'

/** How a test client answers what the server asks. */
export interface AnswerOptions {
  /** Answers forms and URLs: gets the question's parameters and its key, where it has one. */
  readonly elicit?: (params: Members, key: string | undefined) => Awaitable<ElicitAnswer>
  /** Answers `sampling/createMessage`: gives its result. */
  readonly sample?: (params: Members) => Awaitable<Members>
  /** Answers `roots/list`: gives the roots. */
  readonly roots?: () => Awaitable<readonly Members[]>
}

/** Answers of one client, in the form of the wire. */
export class Answers {
  readonly #options: AnswerOptions

  constructor(options: AnswerOptions) {
    this.#options = options
  }

  /** What a client can say of itself that answers like this. */
  get capabilities(): ClientCapabilities {
    const { elicit, sample, roots } = this.#options
    return {
      ...(elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
      ...(sample === undefined ? {} : { sampling: {} }),
      ...(roots === undefined ? {} : { roots: {} }),
    }
  }

  /** Whether there is an answer to questions of this kind. */
  knows(method: unknown): boolean {
    const { elicit, sample, roots } = this.#options
    switch (method) {
      case 'elicitation/create':
        return elicit !== undefined
      case 'sampling/createMessage':
        return sample !== undefined
      case 'roots/list':
        return roots !== undefined
      default:
        return false
    }
  }

  /** The answer to a question that is known. */
  async answer({ method, params }: Members, key?: string): Promise<unknown> {
    const { elicit, sample, roots } = this.#options
    const members = (params ?? {}) as Members
    if (method === 'elicitation/create') return toResult(await elicit?.(members, key))
    if (method === 'sampling/createMessage') return await sample?.(members)
    return { roots: await roots?.() }
  }
}

function toResult(answer: ElicitAnswer | undefined): Members {
  return typeof answer === 'object' ? { action: 'accept', content: answer } : { action: answer ?? 'cancel' }
}
