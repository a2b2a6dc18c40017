import type { SkillMemory } from './skill.js'

/** What sources have read, of those that were used last. */
export function skillMemory(max: number): SkillMemory {
  const kept = new Map<string, unknown>()
  const put = (key: string, value: unknown): void => {
    kept.delete(key)
    kept.set(key, value)
    if (kept.size > max) kept.delete(kept.keys().next().value as string)
  }
  return {
    get(key) {
      const value = kept.get(key)
      if (value !== undefined) put(key, value)
      return value
    },
    set: put,
  }
}
