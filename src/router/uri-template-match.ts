import { canonicalUri } from './uri-template-encode.js'
import type { Expression, PatternNode, Place, Variable } from './uri-template-parse.js'

/** What a handler gets from a URI. */
export type MatchedValues = Record<string, string | string[]>

type Store = (text: string, values: MatchedValues) => boolean

/** Text that has to stand here; `folded` is in small letters and compared without case. */
interface TextPart {
  readonly kind: 'text'
  readonly text: string
  readonly folded: boolean
}

/** The parts up to `skip` may be missing. */
interface ForkPart {
  readonly kind: 'fork'
  skip: number
}

/** Any characters but the `excluded`, kept by `store`. */
interface RunPart {
  readonly kind: 'run'
  readonly excluded: string
  readonly minimum: 0 | 1
  readonly store: Store
}

/** The variables of one expression and what none of their values may contain. */
interface Variables {
  readonly variables: readonly Variable[]
  readonly excluded: string
}

type Part = TextPart | ForkPart | RunPart

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': ':80', 'https:': ':443' }
const DELIMITERS: Readonly<Record<Place, string>> = { authority: '/?#', path: '/?#', query: '&#', fragment: '' }

/**
 * Compiles a parsed pattern into its matcher. No regular expression is made of a pattern: a table of what can still be
 * reached keeps the cost at parts × length, whatever the URI.
 */
export function createMatcher(nodes: readonly PatternNode[]): (uri: string) => MatchedValues | undefined {
  const parts = compile(nodes)
  const [first] = parts
  return (uri) => {
    const text = canonicalUri(uri)
    if (text === undefined) return undefined
    const folded = text.toLowerCase()
    if (first?.kind === 'text' && !folded.startsWith(first.text)) return undefined
    return readValues(parts, text, reachable(parts, text, folded))
  }
}

function compile(nodes: readonly PatternNode[]): readonly Part[] {
  const parts: Part[] = []
  for (const node of nodes.slice(addStart(parts, nodes))) {
    if (node.kind === 'expression') addExpression(parts, node)
    else if (node.place === 'authority') addFolded(parts, canonicalLiteral(node.text))
    else parts.push(exactText(canonicalLiteral(node.text)))
  }
  return parts
}

/** Adds scheme and literal authority; returns how many nodes that covers. */
function addStart(parts: Part[], nodes: readonly PatternNode[]): number {
  const [first, second, third] = nodes
  if (first?.kind !== 'literal') return 0
  const text = canonicalLiteral(first.text)
  const port = DEFAULT_PORTS[text.slice(0, text.indexOf('://') + 1).toLowerCase()]
  if (port === undefined || second?.place === 'authority') {
    addFolded(parts, text)
    return 1
  }
  const isDefault = text.endsWith(port)
  addFolded(parts, isDefault ? text.slice(0, -port.length) : text)
  if (isDefault || !/:\d+$/.test(text)) addOptional(parts, () => parts.push(exactText(port)))
  // RFC 3986 6.2.3: for http and https an empty path is the same as "/", and URL parsers write the slash.
  const hasRoot = second?.kind === 'literal' && second.text === '/'
  const behind = hasRoot ? third : second
  if (behind?.place === 'path') return 1
  addOptional(parts, () => parts.push(exactText('/')))
  return hasRoot ? 2 : 1
}

/** Scheme and host have no case; what stands before an `@` has one. */
function addFolded(parts: Part[], text: string): void {
  const [, scheme = '', user = '', host = ''] = /^([^/]*:\/\/)?(.*@)?(.*)$/.exec(text) ?? []
  if (user !== '') {
    parts.push({ kind: 'text', text: scheme.toLowerCase(), folded: true }, exactText(user))
  }
  parts.push({ kind: 'text', text: (user === '' ? scheme + host : host).toLowerCase(), folded: true })
}

function addExpression(parts: Part[], expression: Expression): void {
  const { operator, variables, place } = expression
  switch (operator) {
    case '?':
    case '&':
      return addPairs(parts, operator, { variables, excluded: '#' })
    case ';':
      return addPairs(parts, operator, { variables, excluded: '/?#' })
    case '#':
      return addPrefixed(parts, operator, { variables, excluded: '' })
    case '.':
    case '/':
      return addPrefixed(parts, operator, { variables, excluded: DELIMITERS[place] })
    default:
      return addSimple(parts, { variables, excluded: { '': DELIMITERS[place], '+': '', '*': '?#' }[operator] }, place)
  }
}

/** `{a,b}`, `{+rest}` and `*rest`: all of them are there, and only a query or fragment has empty ones. */
function addSimple(parts: Part[], { variables, excluded }: Variables, place: Place): void {
  const minimum = place === 'query' || place === 'fragment' ? 0 : 1
  for (const [index, variable] of variables.entries()) {
    if (index > 0) parts.push(exactText(','))
    addValue(parts, variable, { excluded, separator: ',', minimum })
  }
}

/** `{/a,b}` may end after any of its variables, so each is optional within the one before it. */
function addPrefixed(parts: Part[], operator: '#' | '.' | '/', { variables, excluded }: Variables): void {
  const [first, ...others] = variables
  if (first === undefined) return
  const separator = operator === '#' ? ',' : operator
  const addFrom = (variable: Variable, prefix: string, rest: readonly Variable[]): void =>
    addOptional(parts, () => {
      parts.push(exactText(prefix))
      const within = variable.list ? excluded.replace(separator, '') : excluded
      addValue(parts, variable, { excluded: within, separator, minimum: operator === '#' ? 0 : 1 })
      const [next, ...further] = rest
      if (next !== undefined) addFrom(next, separator, further)
    })
  addFrom(first, operator, others)
}

/** `{?q,page}`: any of the variables, in any order; a name the template does not have is no match. */
function addPairs(parts: Part[], operator: '?' | '&' | ';', { variables, excluded }: Variables): void {
  const byName = new Map(variables.map((variable) => [variable.name, variable]))
  const separator = operator === ';' ? ';' : '&'
  const store: Store = (text, values) =>
    text.split(separator).every((pair) => {
      if (pair === '') return true
      const [, name = '', value = ''] = /^([^=]*)=?(.*)$/.exec(pair) ?? []
      const variable = byName.get(decodeURIComponent(name))
      return variable !== undefined && storePair(variable, value, values)
    })
  addOptional(parts, () => parts.push(exactText(operator), { kind: 'run', excluded, minimum: 0, store }))
}

function storePair(variable: Variable, text: string, values: MatchedValues): boolean {
  const { name, list } = variable
  const given = values[name]
  if (list) {
    const value = decodeURIComponent(text)
    if (Array.isArray(given)) given.push(value)
    else values[name] = [value]
    return true
  }
  // Which of two values was meant cannot be known, and no expansion has two.
  return given === undefined && storeValue(variable, text, values)
}

function addValue(
  parts: Part[],
  variable: Variable,
  options: { excluded: string; separator: string; minimum: 0 | 1 },
): void {
  const { excluded, separator, minimum } = options
  const storeList: Store = (text, values) => {
    values[variable.name] = text.split(separator).map(decodeURIComponent)
    return true
  }
  const store: Store = variable.list ? storeList : (text, values) => storeValue(variable, text, values)
  parts.push({ kind: 'run', excluded, minimum, store })
}

function storeValue({ name, maxLength }: Variable, text: string, values: MatchedValues): boolean {
  const value = decodeURIComponent(text)
  if (maxLength !== undefined && [...value].length > maxLength) return false
  values[name] = value
  return true
}

function addOptional(parts: Part[], add: () => void): void {
  const fork: ForkPart = { kind: 'fork', skip: 0 }
  parts.push(fork)
  add()
  fork.skip = parts.length
}

function exactText(text: string): TextPart {
  return { kind: 'text', text, folded: false }
}

/** The parser has refused literals without a canonical form. */
function canonicalLiteral(text: string): string {
  return canonicalUri(text) ?? text
}

/** One row for each part: a 1 where the rest of the parts matches the rest of the URI from that position on. */
interface Reachable {
  readonly cells: Uint8Array
  readonly width: number
}

function reachable(parts: readonly Part[], text: string, folded: string): Reachable {
  const width = text.length + 1
  const cells = new Uint8Array((parts.length + 1) * width)
  cells[cells.length - 1] = 1
  for (let index = parts.length - 1; index >= 0; index--) {
    const part = parts[index]
    const row = index * width
    if (part?.kind === 'text') fillText(cells, row, { text: part.text, uri: part.folded ? folded : text })
    else if (part?.kind === 'fork') fillFork(cells, row, { skipRow: part.skip * width, width })
    else if (part?.kind === 'run') fillRun(cells, row, { part, uri: text })
  }
  return { cells, width }
}

function fillText(cells: Uint8Array, row: number, { text, uri }: { text: string; uri: string }): void {
  const next = row + uri.length + 1
  for (let at = uri.length - text.length; at >= 0; at--) {
    if (cells[next + at + text.length] === 1 && uri.startsWith(text, at)) cells[row + at] = 1
  }
}

function fillFork(cells: Uint8Array, row: number, { skipRow, width }: { skipRow: number; width: number }): void {
  for (let at = 0; at < width; at++) {
    if (cells[row + width + at] === 1 || cells[skipRow + at] === 1) cells[row + at] = 1
  }
}

function fillRun(cells: Uint8Array, row: number, { part, uri }: { part: RunPart; uri: string }): void {
  const next = row + uri.length + 1
  let canEndHereOrLater = false
  for (let at = uri.length; at >= 0; at--) {
    const canGoOn: boolean = canEndHereOrLater && !part.excluded.includes(uri.charAt(at))
    const canEndHere = cells[next + at] === 1 && isCharacterStart(uri, at)
    canEndHereOrLater = canEndHere || canGoOn
    if (part.minimum === 0 ? canEndHereOrLater : canGoOn) cells[row + at] = 1
  }
}

/** False within `%2F`: a value must not end in half a character. */
function isCharacterStart(uri: string, at: number): boolean {
  return uri.charAt(at - 1) !== '%' && uri.charAt(at - 2) !== '%'
}

/** Walks the table: what is optional is taken when it can be, and a variable ends as early as the rest allows. */
function readValues(parts: readonly Part[], text: string, { cells, width }: Reachable): MatchedValues | undefined {
  if (cells[0] !== 1) return undefined
  // Without a prototype a variable called `constructor` or `__proto__` is a key like any other.
  const values: MatchedValues = Object.create(null)
  let at = 0
  let index = 0
  for (let part = parts[0]; part !== undefined; part = parts[index]) {
    const next = (index + 1) * width
    if (part.kind === 'fork' && cells[next + at] !== 1) {
      index = part.skip
      continue
    }
    index++
    if (part.kind === 'text') at += part.text.length
    if (part.kind !== 'run') continue
    let end = at + part.minimum
    while (end < text.length && (cells[next + end] !== 1 || !isCharacterStart(text, end))) end++
    if (!part.store(text.slice(at, end), values)) return undefined
    at = end
  }
  return values
}
