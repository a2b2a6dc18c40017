/** What a client takes as an answer. */
export interface Accepted {
  readonly json: boolean
  readonly stream: boolean
}

const BOTH: Accepted = { json: true, stream: true }
const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'

/** What clients of the specification send; it need not be taken apart for each request. */
const USUAL = 'application/json, text/event-stream'

/** A client that does not say takes everything (RFC 9110 12.5.1). */
export function accepted(values: readonly string[]): Accepted {
  if (values.length === 0 || values[0] === USUAL) return BOTH
  const ranges = values
    .join(',')
    .split(',')
    .map(mediaRange)
    .filter(({ wanted }) => wanted)
    .map(({ type }) => type)
  const takes = (type: string, family: string): boolean =>
    ranges.includes(type) || ranges.includes(family) || ranges.includes('*/*')
  return { json: takes(JSON_TYPE, 'application/*'), stream: takes(STREAM_TYPE, 'text/*') }
}

function mediaRange(part: string): { type: string; wanted: boolean } {
  const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
  return { type, wanted: !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) }
}

/** Case and parameters do not matter (RFC 9110 8.3). */
export function isJsonType(values: readonly string[]): boolean {
  const value = values[0]
  if (value === JSON_TYPE) return true
  return values.length === 1 && value !== undefined && mediaRange(value).type === JSON_TYPE
}
