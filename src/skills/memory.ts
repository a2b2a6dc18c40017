import type { SkillMemory } from './skill.js'

/** How much is kept. */
export interface MemoryLimits {
  /** Values that take little. */
  readonly values: number
  /** Bytes of those that take more. */
  readonly bytes: number
}

/** What a value takes besides its bytes, so that empty ones are bounded as well. */
const OVERHEAD = 512

/** What sources have read, of those that were used last. */
export function skillMemory({ values, bytes }: MemoryLimits): SkillMemory {
  const small = new Recent(values)
  const large = new Recent(bytes)
  return {
    get: (key) => small.get(key) ?? large.get(key),
    set: (key, value, size) => (size === undefined ? small.set(key, value, 1) : large.set(key, value, size + OVERHEAD)),
  }
}

interface Kept {
  readonly value: unknown
  readonly weight: number
}

/** Values up to a weight; those that were not used for longest go first. */
class Recent {
  readonly #max: number
  readonly #kept = new Map<string, Kept>()
  #weight = 0

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): unknown {
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    return kept.value
  }

  set(key: string, value: unknown, weight: number): void {
    this.#drop(key)
    if (value === undefined || weight > this.#max) return
    this.#kept.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#max) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    this.#weight -= this.#kept.get(key)?.weight ?? 0
    this.#kept.delete(key)
  }
}
