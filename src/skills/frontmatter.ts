import { isObject } from '../protocol/jsonrpc.js'
import type { Json } from '../protocol/model.js'

/** Front matter of a SKILL.md: `name` and `description`, and whatever else it says, as JSON (agentskills.io). */
export interface Frontmatter extends Json {
  readonly name: string
  readonly description: string
}

const NAME = /^[a-z\d]+(?:-[a-z\d]+)*$/
const MAX_NAME = 64
const MAX_DESCRIPTION = 1024
const MAX_COMPATIBILITY = 500
/** What JSON leaves as it is and YAML calls not printable. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g
/** Keys that no reader of YAML takes for something else. */
const PLAIN_KEY = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z][\w-]*$/i

export function isSkillName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_NAME && NAME.test(name)
}

/** @throws TypeError for front matter that no client would take. */
export function toFrontmatter(owner: string, value: unknown): Frontmatter {
  if (!isObject(value)) throw new TypeError(`${owner}: the front matter must be an object with name and description`)
  const { name, description } = value
  if (!isSkillName(name)) {
    const rule = `1 to ${MAX_NAME} lower-case letters and digits, with single hyphens between them`
    throw new TypeError(`${owner}: the name ${JSON.stringify(name)} of the front matter must be ${rule}`)
  }
  assertLength(`${owner}: the description`, description, MAX_DESCRIPTION)
  if (value['compatibility'] !== undefined)
    assertLength(`${owner}: compatibility`, value['compatibility'], MAX_COMPATIBILITY)
  assertMetadata(owner, value['metadata'])
  const json: unknown = JSON.parse(JSON.stringify(value))
  return json as Frontmatter
}

/** Characters count, not halves of them. */
function assertLength(what: string, value: unknown, max: number): void {
  if (typeof value === 'string' && value.trim() !== '' && [...value].length <= max) return
  throw new TypeError(`${what} must be a string of 1 to ${max} characters`)
}

function assertMetadata(owner: string, metadata: unknown): void {
  if (metadata === undefined) return
  const wrong = isObject(metadata) ? Object.entries(metadata).find(([, value]) => typeof value !== 'string') : ['']
  if (wrong === undefined) return
  throw new TypeError(`${owner}: metadata must have a string for each name: quote the value of '${wrong[0]}'`)
}

/** A SKILL.md: each member of the front matter as JSON, which is YAML as well, and the body below. */
export function skillMarkdown(frontmatter: Frontmatter, body: string): string {
  const lines = Object.entries(frontmatter).map(([key, value]) => {
    return `${PLAIN_KEY.test(key) ? key : yamlOf(key)}: ${yamlOf(value)}`
  })
  return `---\n${lines.join('\n')}\n---\n\n${body}`
}

function yamlOf(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
