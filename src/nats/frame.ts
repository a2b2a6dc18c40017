const ENCODER = new TextEncoder()
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })
const LINE_FEED = 10

/** A message: what it is, as a line of JSON, and what it carries. */
export interface Frame<Meta> {
  readonly meta: Meta
  readonly body: Uint8Array
}

export function toFrame(meta: object, body: Uint8Array): Uint8Array {
  const head = ENCODER.encode(`${JSON.stringify(meta)}\n`)
  const bytes = new Uint8Array(head.length + body.length)
  bytes.set(head)
  bytes.set(body, head.length)
  return bytes
}

/** @throws SyntaxError for what is none. */
export function fromFrame<Meta>(bytes: Uint8Array): Frame<Meta> {
  const end = bytes.indexOf(LINE_FEED)
  return { meta: JSON.parse(DECODER.decode(bytes.subarray(0, end))) as Meta, body: bytes.subarray(end + 1) }
}

export function toBytes(text: string): Uint8Array {
  return ENCODER.encode(text)
}

export function toText(bytes: Uint8Array): string {
  return DECODER.decode(bytes)
}

export function split(bytes: Uint8Array, size: number): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let start = 0; start < bytes.length; start += size) parts.push(bytes.subarray(start, start + size))
  return parts
}

export function join(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let start = 0
  for (const part of parts) {
    bytes.set(part, start)
    start += part.length
  }
  return bytes
}
