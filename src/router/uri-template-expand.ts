import { encodePath, encodeReserved, encodeUnreserved } from './uri-template-encode.js'
import { type Expression, isRequired, type Operator, type PatternNode, type Variable } from './uri-template-parse.js'

/** RFC 6570 appendix A: how an operator joins its values. */
interface Style {
  readonly first: string
  readonly separator: string
  readonly named: boolean
  readonly ifEmpty: string
  readonly encode: (text: string) => string
}

interface Expansion {
  readonly params: Readonly<Record<string, unknown>>
  fail(problem: string): TypeError
}

/**
 * Fills a template, percent-encoded per RFC 6570 3.2. Stricter than the RFC in one way: values that would give a URI this
 * template does not read back are refused, as are objects.
 */
export function expandNodes(nodes: readonly PatternNode[], expansion: Expansion): string {
  return nodes
    .map((node) => (node.kind === 'literal' ? encodeReserved(node.text) : expandExpression(node, expansion)))
    .join('')
}

function expandExpression(expression: Expression, expansion: Expansion): string {
  const style = styleOf(expression.operator)
  const filled: string[] = []
  let gap: string | undefined
  for (const variable of expression.variables) {
    const value = readValue(variable, expansion)
    if (value === undefined) {
      if (isRequired(expression)) throw expansion.fail(`needs a value for "${variable.name}"`)
      gap ??= variable.name
      continue
    }
    if (gap !== undefined && !style.named) {
      throw expansion.fail(`needs "${gap}" when "${variable.name}" is given, or it would be read as "${gap}"`)
    }
    filled.push(expandValue({ style, variable, expression }, value, expansion))
  }
  return filled.length === 0 ? '' : style.first + filled.join(style.separator)
}

function readValue({ name, list }: Variable, { params, fail }: Expansion): string | readonly string[] | undefined {
  const given = Object.hasOwn(params, name) ? params[name] : undefined
  if (given === undefined || given === null) return undefined
  const wanted = list ? 'a list of strings or numbers' : 'a string or a number'
  const textOf = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
    throw fail(`wants ${wanted} for "${name}"`)
  }
  if (!Array.isArray(given)) return textOf(given)
  // RFC 6570 2.3: a list without members is undefined.
  return given.length === 0 ? undefined : given.map(textOf)
}

interface Slot {
  readonly style: Style
  readonly variable: Variable
  readonly expression: Expression
}

function expandValue(slot: Slot, value: string | readonly string[], { fail }: Expansion): string {
  const { style, variable, expression } = slot
  const { name, list, maxLength } = variable
  if (maxLength !== undefined && typeof value !== 'string')
    throw fail(`cannot take a prefix of the list "${name}"; give a string`)
  const cut = typeof value === 'string' && maxLength !== undefined ? [...value].slice(0, maxLength).join('') : value
  const texts = encodeAll(typeof cut === 'string' ? [cut] : cut, style, () =>
    fail(`got half a character (a lone surrogate) in "${name}"`),
  )
  const named = (text: string): string => name + (text === '' ? style.ifEmpty : `=${text}`)
  const exploded = list ? texts.map((text) => (style.named ? named(text) : text)).join(style.separator) : undefined
  if (exploded === undefined && style.named) return named(texts.join(','))
  const text = exploded ?? texts.join(',')
  if (text === '' && isNeeded(expression)) throw fail(`got an empty "${name}", and the URI would not be read back`)
  return text
}

function encodeAll(texts: readonly string[], style: Style, malformed: () => TypeError): readonly string[] {
  try {
    return texts.map(style.encode)
  } catch {
    throw malformed()
  }
}

/** A value in the path that the matcher does not take empty. */
function isNeeded(expression: Expression): boolean {
  const { operator, place } = expression
  return operator === '.' || operator === '/' || (isRequired(expression) && place !== 'query' && place !== 'fragment')
}

function styleOf(operator: Operator): Style {
  const simple: Style = { first: '', separator: ',', named: false, ifEmpty: '', encode: encodeUnreserved }
  switch (operator) {
    case '':
      return simple
    case '+':
      return { ...simple, encode: encodeReserved }
    case '*':
      return { ...simple, encode: encodePath }
    case '#':
      return { ...simple, first: '#', encode: encodeReserved }
    case '.':
    case '/':
      return { ...simple, first: operator, separator: operator }
    case ';':
      return { ...simple, first: ';', separator: ';', named: true }
    case '?':
    case '&':
      return { ...simple, first: operator, separator: '&', named: true, ifEmpty: '=' }
  }
}
