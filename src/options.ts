/** @throws TypeError for what is no object, and for a member that is not known: a misspelt option would be ignored silently. */
export function assertOptions(owner: string, options: unknown, known?: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${owner}: the options must be an object, not ${options === null ? 'null' : typeof options}`)
  }
  for (const option of Object.keys(options)) {
    if (known?.includes(option) === false) {
      throw new TypeError(`${owner}: unknown option '${option}'; known are ${known.join(', ')}`)
    }
  }
}

/** Checks that each of the options that was given is a whole number from 1 on. @throws TypeError that names the option. */
export function assertCounts<Options extends object>(
  owner: string,
  options: Options,
  names: readonly (keyof Options & string)[],
): void {
  for (const name of names) {
    const value: unknown = options[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) > 0)) {
      throw new TypeError(`${owner}: ${name} must be a whole number from 1 on, not ${String(value)}`)
    }
  }
}

/** The longest time in milliseconds that a timer takes; it would run off at once with a longer one. */
export const LONGEST_TIMER_MS = 2_147_483_647

/** Like {@link assertCounts}, for milliseconds that a timer has to take. @throws TypeError that names the option. */
export function assertTimes<Options extends object>(
  owner: string,
  options: Options,
  names: readonly (keyof Options & string)[],
): void {
  assertCounts(owner, options, names)
  for (const name of names) {
    if (Number(options[name] ?? 1) <= LONGEST_TIMER_MS) continue
    throw new TypeError(`${owner}: ${name} must be ${LONGEST_TIMER_MS} or less, which is 24 days, not ${options[name]}`)
  }
}

/** The members of `source` that are there and not undefined. */
export function pick<Source extends object, Key extends keyof Source>(
  source: Source,
  keys: readonly Key[],
): Pick<Source, Key> {
  const picked: Partial<Pick<Source, Key>> = {}
  for (const key of keys) if (source[key] !== undefined) picked[key] = source[key]
  return picked as Pick<Source, Key>
}

/** A timer that does not keep the process alive, on hosts where that is a question. */
export function quietTimer(run: () => void, everyMs: number): ReturnType<typeof setInterval> {
  const timer = setInterval(run, Math.min(Math.max(10, Math.floor(everyMs)), LONGEST_TIMER_MS))
  ;(timer as { unref?(): void }).unref?.()
  return timer
}
