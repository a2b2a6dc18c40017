/** @throws RangeError for a number that is not whole and from 1 on. */
export function assertInRange(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return
  throw new RangeError(`${name} must be a whole number from 1 on, not ${value}`)
}
