import type { Figures } from './figures.js'
import type { Json } from './wire.js'

/** Resources of a group: what is told of them in turn is numbered by their names. */
const RESOURCES = 16
/** So many of the last numbers may be told late, by a node that was slow; what is ahead by more has missed too many. */
const LATE = 12

/** An update that was, or is being, told. */
export interface Update {
  readonly beganMs: number
  /** How often its call was made: each may have told some. */
  attempts: number
}

/** The updates of a group, by their numbers. */
export class Updates {
  readonly group: number
  readonly #all: Update[] = []

  constructor(group: number) {
    this.group = group
  }

  /** The number of the newest. */
  get latest(): number {
    return this.#all.length - 1
  }

  begin(): { readonly uri: string; readonly update: Update } {
    const update = { beganMs: Date.now(), attempts: 0 }
    this.#all.push(update)
    return { uri: uriOf(this.group, this.latest % RESOURCES), update }
  }

  attemptsOf(number: number): number {
    return this.#all[number]?.attempts ?? 0
  }

  /** The first that was told after a time. */
  firstSince(ms: number): number {
    const found = this.#all.findIndex(({ beganMs }) => beganMs >= ms)
    return found < 0 ? this.#all.length : found
  }
}

const uriOf = (group: number, id: number | string): string => `notes:///${group}/${id}`

/** All that a client follows: between a first and a last one, of which nothing is told unless all are told to have changed. */
export const urisOf = (group: number): readonly string[] => [
  uriOf(group, 'first'),
  ...Array.from({ length: RESOURCES }, (_one, id) => uriOf(group, id)),
  uriOf(group, 'last'),
]

const UPDATED = 'notifications/resources/updated'
/** No list of the soak changes: it is told only to who may have missed something. */
const MISSED = 'notifications/tools/list_changed'

/**
 * Looks whether a client sees each update once. Its stretches are without a hole: from where it begins to listen, or is told that it may
 * have missed something, to where its stream ends for good, or it is told so again.
 */
export class Follower {
  readonly #updates: Updates
  readonly #figures: Figures
  readonly #name: string
  /** Whether its stream is gone on with when its connection ends. */
  readonly #resumes: boolean
  readonly #seen = new Map<number, number>()
  #last: number | undefined
  /** Told to have missed something: what has changed is told soon. */
  #missed = false
  /** In the middle of being told that all has changed. */
  #flooded = false
  #listeningSince: number | undefined
  isConnected = false

  constructor(name: string, { updates, figures, resumes }: { updates: Updates; figures: Figures; resumes: boolean }) {
    this.#name = name
    this.#updates = updates
    this.#figures = figures
    this.#resumes = resumes
  }

  /** It has seen the newest update, on a stream that is open. */
  get isUpToDate(): boolean {
    return this.isConnected && this.#last === this.#updates.latest && !this.#missed
  }

  get state(): string {
    return `${this.#name}: connected ${this.isConnected}, has seen ${this.#last} of ${this.#updates.latest}, told of a gap ${this.#missed}`
  }

  connected(): void {
    this.isConnected = true
    if (!this.#resumes) this.#listeningSince = Date.now()
  }

  disconnected(): void {
    this.isConnected = false
    if (!this.#resumes) this.endStretch()
  }

  take({ method, params }: Json): void {
    if (method === MISSED) {
      this.endStretch()
      this.#figures.toldAll++
      this.#missed = true
      this.#flooded = false
    } else if (method === UPDATED)
      this.#take(
        String((params as Json)['uri'])
          .split('/')
          .at(-1) ?? '',
      )
  }

  #take(id: string): void {
    if (id === 'first') {
      if (!this.#missed) this.#wrong('is told that all has changed without a reason')
      this.#flooded = true
    } else if (id === 'last') {
      this.#missed = false
      this.#flooded = false
    } else if (!this.#flooded) this.#see(Number(id))
  }

  /** The number that ends like this and is nearest to the one that was seen last. */
  #see(id: number): void {
    const { latest } = this.#updates
    this.#figures.updatesSeen++
    const base = this.#last ?? latest
    const behind = (((base - id) % RESOURCES) + RESOURCES) % RESOURCES
    const isBefore = this.#last === undefined || behind < LATE
    const number = isBefore ? base - behind : base - behind + RESOURCES
    if (number > latest) return this.#wrong(`has seen ${number}, which nobody has told: ${latest}`)
    this.#seen.set(number, (this.#seen.get(number) ?? 0) + 1)
    this.#last = Math.max(this.#last ?? number, number)
  }

  /** What comes from here on has nothing to do with what came before. */
  endStretch(): void {
    const numbers = [...this.#seen.keys()].sort((one, other) => one - other)
    const [first] = numbers
    if (first !== undefined && first > this.#updates.firstSince(this.#listeningSince ?? Number.POSITIVE_INFINITY))
      this.#wrong(`has not seen ${this.#updates.firstSince(this.#listeningSince ?? 0)} up to ${first - 1}`)
    numbers.forEach((number, at) => {
      const before = numbers[at - 1] ?? number - 1
      if (number !== before + 1) this.#wrong(`has not seen ${before + 1} to ${number - 1}`)
      const times = this.#seen.get(number) ?? 0
      if (times > this.#updates.attemptsOf(number)) this.#wrong(`has seen ${number} ${times} times`)
    })
    this.#seen.clear()
    this.#last = undefined
    this.#listeningSince = undefined
  }

  #wrong(what: string): void {
    this.#figures.wrong(this.#resumes ? 'events' : 'updates', `${this.#name} ${what}`)
  }
}
