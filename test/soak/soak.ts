import { setMaxListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { work } from './activities.js'
import { CHECKS, type Check, Figures } from './figures.js'
import { Follower, Updates, urisOf } from './follower.js'
import { LegacyClient } from './legacy-client.js'
import { ModernClient } from './modern-client.js'
import { type Nodes, Outages } from './outages.js'
import { Wire } from './wire.js'
import { again, textOf, type World } from './world.js'

export interface SoakOptions {
  /** The address of the proxy. */
  readonly url: string
  /** The addresses of the nodes. */
  readonly nodes: readonly string[]
  /** A file with a line for each effect. */
  readonly effects: string
  /** How long there are calls. */
  readonly seconds: number
  readonly killer: Nodes & { pid(at: number): number }
}

export interface Report {
  readonly lines: readonly string[]
  readonly checks: readonly { readonly title: string; readonly wrong: readonly string[] }[]
}

const CLIENTS = 200
const GROUPS = 4
/** Clients that begin at once. */
const AT_ONCE = 10
/** Milliseconds between two updates of a group. */
const UPDATE_MS = 500
/** Milliseconds between two kills. No node is killed in the last ones, so that there is time to come back. */
const KILL_MS = 5_000
const CALM_MS = 4_000
/** Nodes that are killed in turn; the last one lives. */
const KILLED = [0, 1] as const
const LIVES = 2
/** Milliseconds in which every stream has to be back, when no more nodes are killed. */
const BACK_MS = 15_000
const HEAP_BYTES = 15e6
/** Milliseconds in which the heap has to become what it was. */
const HEAP_MS = 10_000

/** Runs the soak on nodes that are there. It ends by itself. */
export async function soak(options: SoakOptions): Promise<Report> {
  const run = new Soak(options)
  const before = await run.heap()
  await run.begin()
  await run.work()
  await run.comeBack()
  await run.end()
  const after = await run.settledHeap(before)
  return run.report(before, after)
}

class Soak {
  readonly #options: SoakOptions
  readonly #figures = new Figures()
  readonly #outages: Outages
  readonly #wire: Wire
  readonly #world: World
  readonly #busy = new AbortController()
  readonly #open = new AbortController()
  readonly #legacy: LegacyClient[] = []
  readonly #modern: ModernClient[] = []
  readonly #followers: Follower[] = []
  readonly #listening: Promise<void>[] = []
  readonly #groups = Array.from({ length: GROUPS }, (_one, group) => new Updates(group))
  readonly #teller: ModernClient
  /** Processes that were killed. */
  readonly #killed = new Set<number>()

  constructor(options: SoakOptions) {
    this.#options = options
    setMaxListeners(CLIENTS, this.#open.signal)
    this.#outages = new Outages(options.killer)
    this.#wire = new Wire(options.url)
    this.#world = {
      wire: this.#wire,
      outages: this.#outages,
      figures: this.#figures,
      busy: this.#busy.signal,
      open: this.#open.signal,
    }
    this.#teller = new ModernClient(this.#world, 'teller')
  }

  /** All clients are there, and listen. */
  async begin(): Promise<void> {
    const names = Array.from({ length: CLIENTS }, (_one, at) => at).values()
    const worker = async (): Promise<void> => {
      for (const at of names) await (at % 2 === 0 ? this.#beginLegacy(at) : this.#beginModern(at))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    await this.#allAre('listening', (follower) => follower.isConnected)
  }

  async #beginLegacy(at: number): Promise<void> {
    const client = new LegacyClient(this.#world, `legacy${at}`)
    await client.begin()
    const follower = this.#follower(at, `legacy${at}`, true)
    this.#listening.push(client.listen(follower))
    for (const uri of urisOf(at % GROUPS)) await client.subscribe(uri)
    this.#legacy.push(client)
  }

  async #beginModern(at: number): Promise<void> {
    const client = new ModernClient(this.#world, `modern${at}`)
    this.#listening.push(client.listen(urisOf(at % GROUPS), this.#follower(at, `modern${at}`, false)))
    this.#modern.push(client)
  }

  #follower(at: number, name: string, resumes: boolean): Follower {
    const updates = this.#groups[at % GROUPS] as Updates
    const follower = new Follower(name, { updates, figures: this.#figures, resumes })
    this.#followers.push(follower)
    return follower
  }

  /** Calls and updates, while nodes are killed. */
  async work(): Promise<void> {
    const working = [...this.#legacy, ...this.#modern].map((client, at) => work(this.#world, client, `client${at}`))
    const telling = this.#groups.map((updates) => this.#tellAll(updates))
    const killing = this.#killInTurn()
    await sleep(this.#options.seconds * 1_000)
    this.#busy.abort()
    await Promise.all([...working, ...telling, killing])
  }

  async #tellAll(updates: Updates): Promise<void> {
    while (!this.#busy.signal.aborted) {
      await this.#tell(updates)
      await sleep(UPDATE_MS)
    }
  }

  /** An update is told when its call was answered: until then it is told again. */
  async #tell(updates: Updates): Promise<void> {
    const { uri, update } = updates.begin()
    try {
      await again(this.#world, () => {
        update.attempts++
        return this.#teller.call('touch', { uri })
      })
      this.#figures.updatesSent++
    } catch (error) {
      this.#figures.wrong('answers', `${uri} could not be told: ${String(error)}`)
    }
  }

  async #killInTurn(): Promise<void> {
    const endMs = Date.now() + this.#options.seconds * 1_000 - CALM_MS
    for (let turn = 0; ; turn++) {
      await sleep(turn === 0 ? KILL_MS / 2 : KILL_MS)
      if (Date.now() > endMs) return
      const at = KILLED[turn % KILLED.length] as number
      this.#killed.add(this.#options.killer.pid(at))
      await this.#outages.cause(at)
    }
  }

  /** Every client has its stream, and sees what is told from here on. */
  async comeBack(): Promise<void> {
    await this.#allAre('listening', (follower) => follower.isConnected)
    for (const updates of this.#groups) await this.#tell(updates)
    await this.#allAre('up to date', (follower) => follower.isUpToDate)
    for (const follower of this.#followers) follower.endStretch()
  }

  async #allAre(what: string, is: (follower: Follower) => boolean): Promise<void> {
    const untilMs = Date.now() + BACK_MS
    while (Date.now() < untilMs && !this.#followers.every(is)) await sleep(50)
    for (const follower of this.#followers) {
      if (!is(follower)) this.#figures.wrong('back', `is not ${what}: ${follower.state}`)
    }
  }

  /** All sessions and connections are closed. */
  async end(): Promise<void> {
    this.#open.abort()
    await Promise.all(this.#listening)
    for (const client of this.#legacy) await again(this.#world, () => client.end())
    this.#wire.close()
  }

  /** What the node that lives uses when nothing is left that nobody holds. */
  async heap(): Promise<number> {
    const wire = new Wire(this.#options.nodes[LIVES] ?? '')
    const figures = new Figures()
    const client = new ModernClient({ ...this.#world, wire, figures }, 'heap')
    try {
      return Number(textOf(await client.call('heap', {})))
    } finally {
      wire.close()
    }
  }

  async settledHeap(before: number): Promise<number> {
    const untilMs = Date.now() + HEAP_MS
    let after = await this.heap()
    while (after - before > HEAP_BYTES && Date.now() < untilMs) {
      await sleep(1_000)
      after = await this.heap()
    }
    if (after - before > HEAP_BYTES) this.#figures.wrong('heap', `${mega(before)} before, ${mega(after)} after`)
    return after
  }

  report(before: number, after: number): Report {
    const effects = this.#countEffects()
    this.#checkWork()
    const figures = this.#figures
    const { calls, answered, retryable, lost, updatesSent, updatesSeen, toldAll } = figures
    const lines = [
      `${this.#legacy.length + this.#modern.length} clients for ${this.#options.seconds} s, ${this.#outages.count} kills`,
      `${calls} calls: ${answered} answered, ${retryable} to be tried again, ${lost} lost with a node`,
      `${updatesSent} updates told, ${updatesSeen} seen; ${toldAll} times told that all may have changed`,
      `resumed: ${figures.sessionResumptions} streams of sessions, ${figures.callResumptions} of calls; ${figures.listens} listens opened`,
      `${figures.elicitations} questions answered, ${figures.orders} orders and ${figures.counts} counts finished`,
      `${effects.all} effects, of which ${effects.again} ran again after their node was killed`,
      `heap of the node that lived: ${mega(before)} before, ${mega(after)} after`,
    ]
    const checks = Object.entries(CHECKS).map(([check, title]) => ({ title, wrong: figures.wrongOf(check as Check) }))
    return { lines, checks }
  }

  /** An effect has one key. It runs again only where its process was killed before it could write down that it had run. */
  #countEffects(): { readonly all: number; readonly again: number } {
    const lines = readFileSync(this.#options.effects, 'utf8').split('\n').filter(Boolean)
    const byEffect = new Map<string, { readonly key: string; pid: number }>()
    let ranAgain = 0
    for (const line of lines) {
      const [ref = '', what = '', key = '', pid = ''] = line.split(' ')
      const effect = `${ref} ${what}`
      const before = byEffect.get(effect)
      byEffect.set(effect, { key, pid: Number(pid) })
      if (before === undefined) continue
      if (before.key === key && this.#killed.has(before.pid)) ranAgain++
      else this.#figures.wrong('effects', `${effect} ran twice, in ${before.pid} and ${pid}: ${before.key}, ${key}`)
    }
    return { all: byEffect.size, again: ranAgain }
  }

  #checkWork(): void {
    const { orders, counts, updatesSeen, sessionResumptions, callResumptions } = this.#figures
    const done = { orders, counts, updatesSeen, sessionResumptions, callResumptions, kills: this.#outages.count }
    for (const [what, count] of Object.entries(done)) if (count === 0) this.#figures.wrong('work', `no ${what}`)
  }
}

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
