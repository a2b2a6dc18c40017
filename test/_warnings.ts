import { afterEach, beforeEach, expect } from 'vitest'

/** Each test of the file fails that the process warns in; warnings of the names in `expected` may come. */
export function failOnWarnings(...expected: readonly string[]): void {
  const warnings = new Set<string>()
  const onWarning = ({ name }: Error): void => {
    if (!expected.includes(name)) warnings.add(name)
  }
  beforeEach(() => void process.on('warning', onWarning))
  afterEach(async () => {
    // Warnings are emitted in a later turn than what they are about.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    const seen = [...warnings]
    warnings.clear()
    expect(seen).toEqual([])
  })
}
