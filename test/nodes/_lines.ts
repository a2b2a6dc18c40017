import type { Readable } from 'node:stream'

/** Calls back for each line. `readline` would end one at U+2028, too, which JSON has inside of texts. */
export function onLine(input: Readable, listener: (line: string) => void): void {
  let rest = ''
  input.setEncoding('utf8').on('data', (text: string) => {
    rest += text
    if (!text.includes('\n')) return
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) listener(line)
  })
}
