import { canonicalUri } from './uri-template-encode.js'

/** `*` is the glob of ours, advertised as `+`; the others are RFC 6570's. */
export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&' | '*'

/** The part of the URI something stands in; the scheme counts to the authority. */
export type Place = 'authority' | 'path' | 'query' | 'fragment'

/** One variable of an expression with its modifier. */
export interface Variable {
  readonly name: string
  readonly list: boolean
  /** Code points, from the prefix modifier `:3`. */
  readonly maxLength: number | undefined
}

/** Text between expressions; it never crosses from one place into the next. */
export interface Literal {
  readonly kind: 'literal'
  readonly text: string
  readonly place: Place
}

/** `{?q,page}`, `:id` or `*rest`. */
export interface Expression {
  readonly kind: 'expression'
  readonly operator: Operator
  readonly variables: readonly Variable[]
  readonly place: Place
}

/** A pattern in order: literals and expressions. */
export type PatternNode = Literal | Expression

/** The other operators bring a prefix or a name of their own, so their variables can be left out. */
export function isRequired({ operator }: Expression): boolean {
  return operator === '' || operator === '+' || operator === '*'
}

interface Reader {
  readonly nodes: PatternNode[]
  readonly names: Set<string>
  place: Place
  fail(problem: string): TypeError
}

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/
const NOT_IN_URIS = /[\s\p{Cc}"<>\\^`|}]/u
const SPECIFIER = /^(\w+(?:\.\w+)*)(?:(\*)|:([1-9]\d{0,3}))?$/
const SEGMENT_VARIABLE = /\/(?=[:*])/

/** Reads a pattern once, at definition. @throws TypeError naming owner, pattern and the mend. */
export function parsePattern(owner: string, pattern: string): readonly PatternNode[] {
  const fail = (problem: string): TypeError => new TypeError(`${owner}: the pattern "${pattern}" ${problem}`)
  const scheme = SCHEME.exec(pattern)?.[0]
  if (scheme === undefined) throw fail('has no scheme; begin it with one, as in "notes://all"')
  const start = pattern.startsWith('//', scheme.length) ? scheme.length + 2 : scheme.length
  if (start === pattern.length) throw fail('has nothing after its scheme; name a resource, as in "notes://all"')
  const reader: Reader = { nodes: [], names: new Set(), place: 'authority', fail }
  pushLiteral(reader, pattern.slice(0, start))
  // Without `//` there is no authority: the path begins behind the scheme.
  if (start === scheme.length) reader.place = 'path'
  const [first = '', ...pieces] = pattern.slice(start).split('{')
  readLiteral(reader, first)
  for (const piece of pieces) {
    const end = piece.indexOf('}')
    if (end < 0) throw fail(`has an unclosed "{" before "${piece}"; close it with "}"`)
    readExpression(reader, piece.slice(0, end))
    readLiteral(reader, piece.slice(end + 1))
  }
  if (reader.place === 'query' && pattern.endsWith('?'))
    throw fail('ends in "?"; an optional segment is {/name}, an optional query is {?name}')
  return reader.nodes
}

function readLiteral(reader: Reader, text: string): void {
  const odd = NOT_IN_URIS.exec(text)?.[0]
  if (odd === '}') throw reader.fail('has a "}" without its "{"; remove it or write %7D')
  if (odd !== undefined) throw reader.fail(`has the character ${JSON.stringify(odd)}; percent-encode it`)
  if (canonicalUri(text) === undefined) throw reader.fail(`has a malformed "%" in "${text}"; a percent sign is %25`)
  let rest = text
  if (reader.place === 'authority') {
    const authority = rest.slice(0, endOf(rest, /[/?#]/))
    refuseNamesInAuthority(reader, authority)
    pushLiteral(reader, authority)
    rest = rest.slice(authority.length)
    if (rest !== '') reader.place = 'path'
  }
  if (reader.place === 'path') {
    const path = rest.slice(0, endOf(rest, /[?#]/))
    readPath(reader, path)
    rest = rest.slice(path.length)
  }
  if (rest !== '') readTail(reader, rest)
}

function readTail(reader: Reader, text: string): void {
  const hash = reader.place === 'fragment' ? 0 : endOf(text, /#/)
  const query = text.slice(0, hash)
  if (query !== '') {
    refuseAfterQueryForm(reader, query)
    reader.place = 'query'
    pushLiteral(reader, query)
  }
  if (hash === text.length) return
  reader.place = 'fragment'
  pushLiteral(reader, text.slice(hash))
}

/** Finds `:id` and `*rest`, which count only right behind a slash. */
function readPath(reader: Reader, path: string): void {
  const [first = '', ...others] = path.split(SEGMENT_VARIABLE)
  pushLiteral(reader, first)
  for (const segment of others) {
    pushLiteral(reader, '/')
    const name = /^[:*]([A-Za-z_]\w*)/.exec(segment)?.[1]
    if (name !== undefined) {
      readSegmentVariable(reader, segment, name)
      continue
    }
    if (/^[:*](?:\/|$)/.test(segment)) throw reader.fail(`has an empty name at "/${segment}"; write a name behind it`)
    pushLiteral(reader, segment)
  }
}

function readSegmentVariable(reader: Reader, segment: string, name: string): void {
  const rest = segment.slice(name.length + 1)
  const glob = segment.startsWith('*')
  if (glob && rest !== '')
    throw reader.fail(`goes on after "*${name}"; a glob is the last segment, {+${name}} can stand anywhere`)
  // `:study-id` and the regular expressions of web routers would silently be a shorter name and a literal.
  if (!/^(?:[/.]|$)/.test(rest)) {
    throw reader.fail(
      `has "${rest}" right after ":${name}"; write {${name}}${rest}, or a name of letters, digits and "_"`,
    )
  }
  pushExpression(reader, glob ? '*' : '', [{ name, list: false, maxLength: undefined }])
  pushLiteral(reader, rest)
}

function readExpression(reader: Reader, text: string): void {
  const reserved = /^[=,!@|]/.exec(text)?.[0]
  if (reserved !== undefined)
    throw reader.fail(`uses the operator "${reserved}" in {${text}}, which RFC 6570 reserves; remove it`)
  const operator = (/^[+#./;?&]/.exec(text)?.[0] ?? '') as Operator
  const variables = text
    .slice(operator.length)
    .split(',')
    .map((specifier) => readSpecifier(reader, specifier, text))
  pushExpression(reader, operator, variables)
}

function readSpecifier(reader: Reader, specifier: string, text: string): Variable {
  if (/^(?:$|[*:])/.test(specifier)) throw reader.fail(`has an empty name in {${text}}; write a name`)
  const [, name, star, length] = SPECIFIER.exec(specifier) ?? []
  if (name === undefined) {
    throw reader.fail(
      `cannot use "${specifier}" in {${text}}; a name is letters, digits, "_" and ".", then "*" or ":1" to ":9999"`,
    )
  }
  return { name, list: star !== undefined, maxLength: length === undefined ? undefined : Number(length) }
}

function pushLiteral(reader: Reader, text: string): void {
  if (text === '') return
  const { nodes, place } = reader
  const last = nodes.at(-1)
  if (last?.kind === 'expression' && last.operator === '*' && place === 'path') throw reader.fail(globNotLast(last))
  if (last?.kind === 'literal' && last.place === place) {
    nodes[nodes.length - 1] = { ...last, text: last.text + text }
    return
  }
  nodes.push({ kind: 'literal', text, place })
}

function pushExpression(reader: Reader, operator: Operator, variables: readonly Variable[]): void {
  for (const { name } of variables) {
    if (reader.names.has(name)) throw reader.fail(`names "${name}" twice; give each variable a name of its own`)
    reader.names.add(name)
  }
  const last = reader.nodes.at(-1)
  if (operator === '&' && last?.kind === 'expression' && isQueryForm(last.operator)) {
    // `{?a}{&b}` without `a` would expand to `&b=…`, which is no query: it is read and advertised as `{?a,b}`.
    reader.nodes[reader.nodes.length - 1] = { ...last, variables: [...last.variables, ...variables] }
    return
  }
  refuseMisplaced(reader, operator, variables)
  if (operator === '#') reader.place = 'fragment'
  if (operator === '?') reader.place = 'query'
  if (operator === '/' && reader.place === 'authority') reader.place = 'path'
  reader.nodes.push({ kind: 'expression', operator, variables, place: reader.place })
}

function refuseMisplaced(reader: Reader, operator: Operator, variables: readonly Variable[]): void {
  const { place } = reader
  const last = reader.nodes.at(-1)
  const text = `{${operator}${variables.map(({ name }) => name).join(',')}}`
  if (operator === '&' && place !== 'query')
    throw reader.fail(`has ${text} without a query before it; write it with "?"`)
  if (operator === '?' && (place === 'query' || place === 'fragment')) {
    throw reader.fail(`begins a query twice at ${text}; add to the first with {&…} or a comma`)
  }
  if (operator === '#' && place === 'fragment') throw reader.fail(`begins a fragment twice at ${text}; keep one`)
  if (operator !== '#') refuseAfterQueryForm(reader, text)
  if (last?.kind !== 'expression') return
  if (last.operator === '*' && operator !== '?' && operator !== '#') throw reader.fail(globNotLast(last))
  if (operator === '' || operator === '+') {
    throw reader.fail(
      `has ${text} right after a variable, so nothing says where that one ends; put a literal between them`,
    )
  }
}

function refuseAfterQueryForm(reader: Reader, text: string): void {
  const last = reader.nodes.at(-1)
  if (reader.place !== 'query' || last?.kind !== 'expression' || !isQueryForm(last.operator)) return
  throw reader.fail(`has "${text}" behind its query variables; put fixed parameters first, as in "?a=1{&b}"`)
}

/** `notes://:id` would be a port, and `files://*path` a host of that name: surely not what was meant. */
function refuseNamesInAuthority(reader: Reader, authority: string): void {
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/^\[[^\]]*\]/, '')
  const found = /(:|^\*)([A-Za-z_]\w*)/.exec(host)
  if (found === null) return
  const mend = found[1] === ':' ? `{${found[2]}}` : `{+${found[2]}}`
  throw reader.fail(
    `has "${found[0]}" before its path, where it is part of the host; write ${mend} or put it behind a "/"`,
  )
}

function globNotLast(glob: Expression): string {
  const name = glob.variables[0]?.name ?? ''
  return `goes on after "*${name}"; a glob is the last segment, {+${name}} can stand anywhere`
}

function isQueryForm(operator: Operator): boolean {
  return operator === '?' || operator === '&'
}

function endOf(text: string, delimiter: RegExp): number {
  const at = text.search(delimiter)
  return at < 0 ? text.length : at
}
