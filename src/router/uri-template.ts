import { expandNodes } from './uri-template-expand.js'
import { createMatcher, type MatchedValues } from './uri-template-match.js'
import { type Expression, isRequired, type PatternNode, parsePattern } from './uri-template-parse.js'

/**
 * What a handler gets for a pattern: `:id`, `*rest`, `{id}` and `{+rest}` are strings, an exploded `{list*}` is a list,
 * and what RFC 6570 lets a URI leave out (`{?q,page}`, `{&x}`, `{;x}`, `{/x}`, `{.x}`, `{#x}`) is optional.
 */
export type UriParams<Pattern extends string> = string extends Pattern
  ? Record<string, string | undefined>
  : Params<InPattern<Pattern>>

interface Found {
  name: string
  value: unknown
  optional: boolean
}

type Params<F extends Found> = Flat<
  { [V in Extract<F, { optional: false }> as V['name']]: V['value'] } & {
    [V in Extract<F, { optional: true }> as V['name']]?: V['value']
  }
>
type Flat<T> = { [K in keyof T]: T[K] }

// Behind the scheme comes the authority, whose first characters are not behind a slash of the path.
type InPattern<P extends string> = P extends `${string}://${infer Rest}`
  ? InText<Rest, true>
  : P extends `${string}:${infer Rest}`
    ? InText<Rest, true>
    : never
type InText<P extends string, InPath extends boolean> = P extends `${infer Text}{${infer Inner}}${infer Rest}`
  ? InLiteral<Text, InPath> | InExpression<Inner> | InText<Rest, IsPath<`${Text}${Inner}`, InPath>>
  : InLiteral<P, InPath>
type IsPath<Text extends string, InPath extends boolean> = Text extends `${string}${'?' | '#'}${string}`
  ? false
  : InPath

type InLiteral<Text extends string, InPath extends boolean> = InPath extends true
  ? InSegments<Before<Before<Text, '?'>, '#'>>
  : never
type InSegments<Text extends string> = Text extends `${string}/${infer Tail}`
  ? InSegment<Before<Before<Tail, '/'>, '.'>> | InSegments<Tail>
  : never
type InSegment<Segment extends string> = Segment extends `${':' | '*'}${infer Name}`
  ? Lowercase<Name> extends `${Letter}${string}`
    ? { name: Name; value: string; optional: false }
    : never
  : never
type Letter =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n')
  | ('o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z' | '_')
type Before<Text extends string, End extends string> = Text extends `${infer Head}${End}${string}` ? Head : Text

type InExpression<Inner extends string> = Inner extends `+${infer Names}`
  ? InNames<Names, false>
  : Inner extends `${'?' | '&' | ';' | '/' | '.' | '#'}${infer Names}`
    ? InNames<Names, true>
    : InNames<Inner, false>
type InNames<Names extends string, Optional extends boolean> = Names extends `${infer Name},${infer Rest}`
  ? InNames<Name, Optional> | InNames<Rest, Optional>
  : Names extends `${infer Name}*`
    ? { name: Name; value: string[]; optional: Optional }
    : { name: Before<Names, ':'>; value: string; optional: Optional }

/** A resource's URI pattern, read once: the advertised form, the matcher and the way back from params to a URI. */
export interface UriTemplate {
  /** As declared. */
  readonly pattern: string
  /** RFC 6570, as advertised: `:id` is `{id}`, `*rest` is `{+rest}`. For a fixed URI the URI itself. */
  readonly uriTemplate: string
  /** The variables, in order. */
  readonly names: readonly string[]
  /** Those that every matching URI has and `expand` needs. */
  readonly required: readonly string[]
  /** Without variables. */
  readonly fixed: boolean
  /** One number for each segment, for `compareSpecificity`. */
  readonly specificity: readonly number[]
  /** The values in the URI, decoded once, without a prototype; undefined where it does not match or is malformed. */
  match(uri: string): MatchedValues | undefined
  /** The URI for these values. @throws TypeError on an unknown, missing or unusable key. */
  expand(params: Readonly<Record<string, unknown>>): string
}

/**
 * Reads a pattern: `:id` and a last `*rest` behind a slash of the path, and RFC 6570 levels 1 to 4.
 * `owner` begins every error message, as in `resource "study"`.
 * @throws TypeError naming owner, pattern and the mend.
 */
export function uriTemplate(owner: string, pattern: string): UriTemplate {
  const nodes = parsePattern(owner, pattern)
  const expressions = nodes.filter((node) => node.kind === 'expression')
  const names = namesOf(expressions)
  const required = namesOf(expressions.filter(isRequired))
  const fixed = names.length === 0
  const fail = (problem: string): TypeError => new TypeError(`${owner}: the URI template "${pattern}" ${problem}`)
  return {
    pattern,
    uriTemplate: fixed ? pattern : nodes.map(advertise).join(''),
    names,
    required,
    fixed,
    specificity: specificityOf(nodes),
    match: createMatcher(nodes),
    expand(params) {
      const known = fixed ? 'it has no variables' : `it has ${names.join(', ')}`
      for (const key of Object.keys(params)) if (!names.includes(key)) throw fail(`has no variable "${key}"; ${known}`)
      // A fixed URI stays as listed, so that clients which compare URIs as strings know it again.
      return fixed ? pattern : expandNodes(nodes, { params, fail })
    },
  }
}

/**
 * Most specific first: segment by segment a literal beats a variable, a longer literal beside a variable beats a shorter
 * one, what may be missing comes after what may not, and `*rest` and `{+rest}` come last. 0 leaves declaration order to
 * the caller's stable sort.
 */
export function compareSpecificity(a: UriTemplate, b: UriTemplate): number {
  const length = Math.max(a.specificity.length, b.specificity.length)
  for (let index = 0; index < length; index++) {
    const left = a.specificity[index] ?? RANK.missing
    const right = b.specificity[index] ?? RANK.missing
    if (left !== right) return right > left ? 1 : -1
  }
  return 0
}

const RANK = { literal: Number.POSITIVE_INFINITY, mixed: 10, variable: 3, missing: 2, optional: 1, rest: 0 } as const

/** What decides a segment with several of them comes last. */
const KINDS = ['literal', 'optional', 'variable', 'rest'] as const

interface Segment {
  literal: number
  kind: (typeof KINDS)[number]
}

function specificityOf(nodes: readonly PatternNode[]): readonly number[] {
  const segments: Segment[] = [{ literal: 0, kind: 'literal' }]
  for (const node of nodes) {
    if (node.kind === 'literal') addLiteral(segments, node.text)
    else addExpression(segments, node)
  }
  return segments.map(({ kind, literal }) => {
    if (kind === 'literal') return RANK.literal
    if (kind === 'rest') return RANK.rest + literal / (literal + 1)
    return literal > 0 ? RANK.mixed + literal : RANK[kind]
  })
}

function addLiteral(segments: Segment[], text: string): void {
  const [first = '', ...others] = text.split(/[/?#]/)
  const last = segments.at(-1)
  if (last !== undefined) last.literal += first.length
  for (const other of others) segments.push({ literal: other.length, kind: 'literal' })
}

function addExpression(segments: Segment[], expression: Expression): void {
  const { operator, variables } = expression
  if (operator === '/') {
    for (const { list } of variables) segments.push({ literal: 0, kind: list ? 'rest' : 'optional' })
    return
  }
  if (operator === '?' || operator === '#') segments.push({ literal: 0, kind: 'optional' })
  const last = segments.at(-1)
  if (last === undefined) return
  const kind = kindOf(expression)
  if (KINDS.indexOf(kind) > KINDS.indexOf(last.kind)) last.kind = kind
  // The commas of `{a,b}` are literals.
  if (operator === '') last.literal += variables.length - 1
}

function kindOf(expression: Expression): Segment['kind'] {
  if (!isRequired(expression)) return 'optional'
  return expression.operator === '' ? 'variable' : 'rest'
}

function advertise(node: PatternNode): string {
  if (node.kind === 'literal') return node.text
  const variables = node.variables.map(({ name, list, maxLength }) => {
    if (list) return `${name}*`
    return maxLength === undefined ? name : `${name}:${maxLength}`
  })
  return `{${node.operator === '*' ? '+' : node.operator}${variables.join(',')}}`
}

function namesOf(expressions: readonly Expression[]): readonly string[] {
  return expressions.flatMap(({ variables }) => variables.map(({ name }) => name))
}
