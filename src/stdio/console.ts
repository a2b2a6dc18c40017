/** The console of Node, with the stream that it prints on. */
type NodeConsole = Console & { _stdout: NodeJS.WritableStream }

/**
 * Sends to stderr what the console would print on stdout, where a stray line breaks the client's parser (2026-07-28
 * basic/transports/stdio). Its stream is changed and not its methods, which share labels, counters and groups. Returns the
 * way back.
 */
export function redirectConsole(): () => void {
  const printing = globalThis.console as NodeConsole
  const before = printing._stdout
  printing._stdout = process.stderr
  return () => {
    printing._stdout = before
  }
}
