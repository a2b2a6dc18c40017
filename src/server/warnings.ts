interface WarningHost {
  readonly process?: { emitWarning?(message: string, options: { type: string; code: string }): void }
}

/** What the developer should know of and need not mend at once: each thing is said once, as a warning of the process. */
export class Warnings {
  readonly #said = new Set<string>()

  /** `code` is the thing; the message of the first time is the one that is shown. */
  once(code: string, message: string): void {
    if (this.#said.has(code)) return
    this.#said.add(code)
    const { process } = globalThis as WarningHost
    if (process?.emitWarning !== undefined) process.emitWarning(message, { type: 'PhantomWarning', code })
    // biome-ignore lint/suspicious/noConsole: hosts without warnings have nothing else
    else console.warn(message)
  }
}
