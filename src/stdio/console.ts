import { Console } from 'node:console'

const METHODS = [
  'log',
  'info',
  'debug',
  'dir',
  'table',
  'group',
  'groupCollapsed',
  'count',
  'timeEnd',
  'timeLog',
] as const

/**
 * Sends to stderr what would print on stdout, where a stray line breaks the client's parser (2026-07-28
 * basic/transports/stdio). Returns the way back.
 */
export function redirectConsole(): () => void {
  const printing = globalThis.console
  const target = new Console(process.stderr, process.stderr)
  const before = new Map(METHODS.map((method) => [method, printing[method]]))
  for (const method of METHODS) printing[method] = target[method].bind(target) as never
  return () => {
    for (const [method, original] of before) printing[method] = original as never
  }
}
