import type { Awaitable } from '../awaitable.js'
import { assertOptions } from '../options.js'
import { BUILT, isBuilt } from '../router/built.js'
import { type Frontmatter, skillMarkdown, toFrontmatter } from './frontmatter.js'
import { isSegment } from './uri.js'

/** What a file of a skill holds: text, bytes, or what gives them when they are asked for. */
export type SkillContent = string | Uint8Array | (() => Awaitable<string | Uint8Array>)

/** A file of a skill. */
export interface SkillFile {
  /** Bytes, where that is known without reading it. */
  readonly size: number | undefined
  /** The bytes as they are now; others may get the same ones, so nobody changes them. */
  read(): Awaitable<Uint8Array>
  /** `sha256:` and 64 hexadecimal digits, where it is known without reading all of it again. */
  digest?(): Awaitable<string>
}

/** How long clients may keep what they are told of a skill; set by `withCache`. */
interface Hinted {
  readonly ttlMs?: number
  readonly cacheScope?: 'public' | 'private'
}

/** A skill: its front matter and its files, SKILL.md among them. Made by `Skill.build` or `fromDirectory`. */
export interface Skill extends Hinted {
  readonly [BUILT]: 'extension:skill'
  readonly frontmatter: Frontmatter
  /** Files by their path below the skill, with slashes. */
  readonly files: ReadonlyMap<string, SkillFile>
  /** The contents change without notice: clients are told so in the place of a list with digests. */
  readonly dynamic: boolean
}

/** What gives a skill when it is asked for; `memory` belongs to the extension, and keeps what was read for the next time. */
export interface SkillSource extends Hinted {
  readonly [BUILT]: 'extension:skill-source'
  /** The skill as it is now; null where there is none. */
  load(memory: SkillMemory): Awaitable<Skill | null>
}

/** Keeps what sources have read; what was not used for long goes. */
export interface SkillMemory {
  /** What was set last; undefined when it has gone. */
  get(key: string): unknown
  /**
   * Keeps a value under a key; undefined lets it go. `bytes` is what a value takes that is more than a few lines: such values have
   * 32 MiB together.
   */
  set(key: string, value: unknown, bytes?: number): void
}

/** A page of skills, made by `Skill.list`. */
export interface SkillList extends Hinted {
  readonly [BUILT]: 'extension:skill-list'
  readonly uris: readonly string[]
  readonly nextCursor?: string
}

/** How a skill is built in code. */
export interface SkillOptions {
  /** `name` and `description`, and what else the front matter is to say. */
  readonly frontmatter: Frontmatter
  /** What SKILL.md says below its front matter. */
  readonly body: SkillContent
  /** More files, by their path below the skill: `references/terms.md`. */
  readonly files?: Readonly<Record<string, SkillContent>>
  /** `'dynamic'` for contents that differ each time: they have no digests. */
  readonly resources?: 'dynamic'
}

/** Builders of skills. */
export interface SkillBuilders {
  /** A skill out of values. @throws TypeError for front matter, paths or sizes that clients would refuse. */
  build(options: SkillOptions): Skill
  /** A page for `skills({ list })`: the URIs of SKILL.md files; without `nextCursor` it is the last. */
  list(uris: readonly string[], nextCursor?: string): SkillList
}

/** More than this no client takes (io.modelcontextprotocol/skills, Limits). */
export const MAX_FILES = 512
export const MAX_BYTES = 16_777_216
export const SKILL_FILE = 'SKILL.md'

const OPTIONS = ['frontmatter', 'body', 'files', 'resources']

/** Builders of skills. */
export const Skill: SkillBuilders = {
  build: (options) => {
    assertOptions('Skill.build', options, OPTIONS)
    const frontmatter = toFrontmatter('Skill.build', options.frontmatter)
    const owner = `skill '${frontmatter.name}'`
    if (options.resources !== undefined && options.resources !== 'dynamic')
      throw new TypeError(`${owner}: resources must be 'dynamic', or left out`)
    const files = new Map<string, SkillFile>([[SKILL_FILE, toFile(owner, markdownOf(frontmatter, options.body))]])
    for (const [path, content] of Object.entries(options.files ?? {})) {
      assertPath(owner, path)
      if (files.has(path)) throw new TypeError(`${owner}: ${SKILL_FILE} is made of frontmatter and body`)
      files.set(path, toFile(`${owner}, file '${path}'`, content))
    }
    assertTree(owner, [...files.keys()])
    assertExtent(owner, files.values())
    return { [BUILT]: 'extension:skill', frontmatter, files, dynamic: options.resources === 'dynamic' }
  },
  list: (uris, nextCursor) => {
    if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string'))
      throw new TypeError('Skill.list: the first argument must be a list of URIs')
    return { [BUILT]: 'extension:skill-list', uris, ...(nextCursor === undefined ? {} : { nextCursor }) }
  },
}

export const isSkill = (value: unknown): value is Skill => isBuilt(value, 'extension:skill')
export const isSkillSource = (value: unknown): value is SkillSource => isBuilt(value, 'extension:skill-source')
export const isSkillList = (value: unknown): value is SkillList => isBuilt(value, 'extension:skill-list')

/** @throws TypeError for more, or larger, files than a client takes. */
export function assertExtent(owner: string, files: Iterable<SkillFile>): void {
  let [count, bytes] = [0, 0]
  for (const { size } of files) {
    count++
    bytes += size ?? 0
  }
  if (count > MAX_FILES) throw new TypeError(`${owner}: it has more than ${MAX_FILES} files`)
  if (bytes > MAX_BYTES) throw new TypeError(`${owner}: its files have more than ${MAX_BYTES} bytes together`)
}

/** @throws TypeError for a path that could mean something outside of the skill. */
function assertPath(owner: string, path: string): void {
  if (path.split('/').every(isSegment)) return
  const rule = "names with slashes between them, without '.', '..', backslashes and control characters"
  throw new TypeError(`${owner}: the path ${JSON.stringify(path)} must be ${rule}`)
}

/** @throws TypeError for a file that is a directory as well. */
function assertTree(owner: string, paths: readonly string[]): void {
  const both = paths.find((path) => paths.some((other) => other.startsWith(`${path}/`)))
  if (both !== undefined) throw new TypeError(`${owner}: '${both}' is a file and a directory`)
}

function markdownOf(frontmatter: Frontmatter, body: SkillContent): SkillContent {
  const whole = (text: string | Uint8Array): string =>
    skillMarkdown(frontmatter, typeof text === 'string' ? text : new TextDecoder().decode(text))
  return typeof body === 'function' ? async () => whole(await body()) : whole(body)
}

function toFile(owner: string, content: SkillContent): SkillFile {
  if (typeof content === 'function') return { size: undefined, read: async () => toBytes(owner, await content()) }
  const bytes = toBytes(owner, content)
  return { size: bytes.byteLength, read: () => bytes }
}

function toBytes(owner: string, content: unknown): Uint8Array {
  if (content instanceof Uint8Array) return content
  if (typeof content === 'string') return new TextEncoder().encode(content)
  throw new TypeError(`${owner}: contents must be a string or a Uint8Array, not ${typeof content}`)
}
