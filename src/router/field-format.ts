// String formats of JSON Schema, written out here so that fields need no JSON Schema library.

/** The formats that `field.string({ format })` knows and enforces. */
export type FormatName =
  | 'date'
  | 'time'
  | 'date-time'
  | 'duration'
  | 'email'
  | 'hostname'
  | 'ipv4'
  | 'ipv6'
  | 'uri'
  | 'uuid'

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/
const EMAIL_LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const HOSTNAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i
/** What most addresses look like; testing it is much faster than taking an address apart. */
const COMMON_EMAIL = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/i
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/
const URI = /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

const FORMATS: { readonly [Name in FormatName]: (text: string) => boolean } = {
  date: isDate,
  time: (text) => TIME.test(text),
  'date-time': isDateTime,
  duration: (text) => DURATION.test(text),
  email: isEmail,
  hostname: isHostname,
  ipv4: (text) => IPV4.test(text),
  ipv6: isIpv6,
  uri: (text) => URI.test(text),
  uuid: (text) => UUID.test(text),
}

/** The check of a format, or undefined when the format is not known. */
export function findFormat(name: string): ((text: string) => boolean) | undefined {
  return Object.hasOwn(FORMATS, name) ? FORMATS[name as FormatName] : undefined
}

/** Every known format, for messages. */
export function formatNames(): readonly string[] {
  return Object.keys(FORMATS)
}

function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (match === null) return false
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function isDateTime(text: string): boolean {
  return /^[t ]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11))
}

function isEmail(text: string): boolean {
  // No label of a host name can be too long in so short a text.
  if (text.length <= 64 && COMMON_EMAIL.test(text)) return true
  const at = text.lastIndexOf('@')
  if (at < 1 || text.length > 320) return false
  const domain = text.slice(at + 1)
  return EMAIL_LOCAL.test(text.slice(0, at)) && (isHostname(domain) || isAddressLiteral(domain))
}

function isAddressLiteral(domain: string): boolean {
  if (!domain.startsWith('[') || !domain.endsWith(']')) return false
  const address = domain.slice(1, -1)
  return IPV4.test(address) || (address.startsWith('IPv6:') && isIpv6(address.slice(5)))
}

function isHostname(text: string): boolean {
  return text.length <= (text.endsWith('.') ? 254 : 253) && HOSTNAME.test(text)
}

function isIpv6(text: string): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...(head ?? []), ...(tail ?? [])]
  const last = groups.at(-1) ?? ''
  const dotted = last.includes('.')
  if (dotted && !IPV4.test(last)) return false
  const hex = dotted ? groups.slice(0, -1) : groups
  const count = hex.length + (dotted ? 2 : 0)
  return hex.every((group) => /^[0-9a-f]{1,4}$/i.test(group)) && (halves.length === 2 ? count < 8 : count === 8)
}
