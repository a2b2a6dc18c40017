import { heapUsed } from './heap.js'
import { openListens } from './open-listens.js'

/** What has happened in this process: the runner sees by it that a refused request ran no tool. */
export class Counters {
  aborts = 0
  completed = 0
  running = 0
  readonly #calls = new Map<string, number>()

  /** A handler was entered. */
  enter(tool: string): void {
    this.#calls.set(tool, (this.#calls.get(tool) ?? 0) + 1)
  }

  /** Counts work while it is in progress, and how it ended. */
  async during<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    this.running++
    try {
      const value = await work()
      this.completed++
      return value
    } catch (error) {
      if (signal.aborted) this.aborts++
      throw error
    } finally {
      this.running--
    }
  }

  toJSON(): object {
    const { aborts, completed, running } = this
    // A polluted prototype would show here.
    const { admin } = {} as { admin?: unknown }
    const calls = Object.fromEntries(this.#calls)
    return { aborts, completed, running, calls, admin, listeners: openListens(), heapUsed: heapUsed() }
  }
}
