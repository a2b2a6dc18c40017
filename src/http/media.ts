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
  if (values.length === 0 || (values.length === 1 && values[0] === USUAL)) return BOTH
  const ranges = new Map(values.join(',').split(',').map(mediaRange))
  return { json: takes(ranges, JSON_TYPE, 'application/*'), stream: takes(ranges, STREAM_TYPE, 'text/*') }
}

/** The most specific range that fits decides, whether it says yes or no. */
function takes(ranges: ReadonlyMap<string, boolean>, type: string, family: string): boolean {
  return ranges.get(type) ?? ranges.get(family) ?? ranges.get('*/*') ?? false
}

function mediaRange(part: string): [type: string, wanted: boolean] {
  const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
  return [type, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))]
}

/** Case and parameters do not matter (RFC 9110 8.3); two different types are none. */
export function isJsonType(values: readonly string[]): boolean {
  const [value] = values
  if (value === undefined || values.length > 1) return false
  return value === JSON_TYPE || mediaRange(value)[0] === JSON_TYPE
}
