/** What has been counted, and what was wrong. */
export class Figures {
  calls = 0
  answered = 0
  retryable = 0
  lost = 0
  elicitations = 0
  orders = 0
  counts = 0
  updatesSent = 0
  updatesSeen = 0
  /** Times that a client was told that all it follows may have changed. */
  toldAll = 0
  /** Times that the stream of a session, or of a call, was gone on with. */
  sessionResumptions = 0
  callResumptions = 0
  /** Times that a listen was opened again. */
  listens = 0
  kills = 0
  readonly #wrong = new Map<Check, string[]>()

  wrong(check: Check, what: string): void {
    const found = this.#wrong.get(check) ?? []
    found.push(what)
    this.#wrong.set(check, found)
  }

  wrongOf(check: Check): readonly string[] {
    return this.#wrong.get(check) ?? []
  }
}

/** What is checked, in the words of the report. */
export const CHECKS = {
  answers: 'every call ends in its right answer, or in an error that says to try again',
  lost: 'what is lost on the way was lost with a node',
  updates: 'every update is seen, or the stream has ended before it',
  events: 'no event is missing or doubled for who comes back',
  effects: 'what is inside of once is counted once',
  back: 'every stream is back at the end',
  heap: 'the heap of the node that lived is what it was',
  work: 'there was something of everything',
} as const

export type Check = keyof typeof CHECKS
