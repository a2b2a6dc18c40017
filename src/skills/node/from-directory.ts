import { realpath } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { parse } from 'yaml'
import { assertOptions } from '../../options.js'
import { BUILT } from '../../router/built.js'
import { type Frontmatter, toFrontmatter } from '../frontmatter.js'
import { digestOf } from '../manifest.js'
import { assertExtent, SKILL_FILE, type Skill, type SkillFile, type SkillMemory, type SkillSource } from '../skill.js'
import { type FoundFile, readBelow, walk } from './walk.js'

/** How a directory is served. */
export interface DirectoryOptions {
  /** A directory that is not there is no skill, in the place of an error: for paths with variables. @default false */
  readonly optional?: boolean
  /** `'dynamic'` for files that change without notice: clients get no digests. */
  readonly resources?: 'dynamic'
}

/** What was read of the files of a directory: it holds for as long as a file has the same stamp. */
interface Remembered {
  readonly digests: Map<string, { readonly stamp: string; readonly digest: Promise<string> }>
  frontmatter: { readonly stamp: string; readonly value: Frontmatter } | undefined
}

/** Front matter longer than this is none. */
const MAX_FRONTMATTER = 65_536
const FRONTMATTER = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/
const OPTIONS = ['optional', 'resources']

/**
 * The skill in a directory: SKILL.md, whose front matter has the directory's name, and whatever else is in it. Files whose names
 * begin with a dot are left out. A changed file is served changed: what was read of one is kept until it has another size or
 * modification time, 32 MiB of contents for all directories of an extension.
 *
 * The skill cannot be served, which is reported, when there is a symbolic link in the directory, more than 512 files or 16 MiB,
 * or no SKILL.md with `name` and `description`.
 *
 * @throws TypeError for an option that is unknown.
 * @example
 * guides.route('git-workflow', () => fromDirectory('skills/git-workflow'))
 */
export function fromDirectory(directory: string, options: DirectoryOptions = {}): SkillSource {
  assertOptions('fromDirectory', options, OPTIONS)
  if (typeof directory !== 'string' || directory === '' || directory.includes('\0'))
    throw new TypeError('fromDirectory: the first argument must be the path of a directory')
  const path = resolve(directory)
  return { [BUILT]: 'extension:skill-source', load: (memory) => load(path, options, memory) }
}

async function load(path: string, options: DirectoryOptions, memory: SkillMemory): Promise<Skill | null> {
  const owner = `skill directory '${path}'`
  const root = await rootOf(path, options)
  if (root === undefined) return null
  const remembered = rememberedOf(memory, path)
  const found = await walk(owner, root)
  const place = { owner, root, remembered, memory }
  const markdown = found.find((file) => file.path === SKILL_FILE)
  if (markdown === undefined) throw new TypeError(`${owner}: it has no ${SKILL_FILE}`)
  const frontmatter = await frontmatterOf(place, markdown)
  if (frontmatter.name !== basename(path))
    throw new TypeError(`${owner}: the front matter says '${frontmatter.name}', but the directory has another name`)
  const files = new Map(found.map((file) => [file.path, toFile(place, file)]))
  forget(remembered, files)
  assertExtent(owner, files.values())
  return { [BUILT]: 'extension:skill', frontmatter, files, dynamic: options.resources === 'dynamic' }
}

/** Links on the way to the directory are the operator's; those inside of it are not followed. */
async function rootOf(path: string, { optional }: DirectoryOptions): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (optional === true && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined
    throw error
  }
}

interface Place {
  readonly owner: string
  readonly root: string
  readonly remembered: Remembered
  readonly memory: SkillMemory
}

function rememberedOf(memory: SkillMemory, path: string): Remembered {
  const known = memory.get(path) as Remembered | undefined
  if (known !== undefined) return known
  const fresh: Remembered = { digests: new Map(), frontmatter: undefined }
  memory.set(path, fresh)
  return fresh
}

function forget({ digests }: Remembered, files: ReadonlyMap<string, SkillFile>): void {
  for (const path of digests.keys()) if (!files.has(path)) digests.delete(path)
}

/** The contents of a file that was read before. */
interface Contents {
  readonly stamp: string
  readonly bytes: Promise<Uint8Array>
}

function toFile(place: Place, file: FoundFile): SkillFile {
  const { path, size, stamp, settled } = file
  const { digests } = place.remembered
  return {
    size,
    read: () => contentsOf(place, file) ?? keepContents(place, file),
    digest: async () => {
      const known = digests.get(path)
      if (known?.stamp === stamp) return await known.digest
      // All files of a skill are read for their digests, and few of them for what they say: those are not kept.
      const digest = (contentsOf(place, file) ?? readBelow(place.owner, place.root, path)).then(digestOf)
      if (!settled) return await digest
      digests.set(path, { stamp, digest })
      // What could not be read now may be there the next time.
      digest.catch(() => digests.delete(path))
      return await digest
    },
  }
}

const contentsKey = ({ root }: Place, { path }: FoundFile): string => `${root}\0${path}`

function contentsOf(place: Place, file: FoundFile): Promise<Uint8Array> | undefined {
  const known = place.memory.get(contentsKey(place, file)) as Contents | undefined
  return known?.stamp === file.stamp ? known.bytes : undefined
}

/** Kept from the start, so that several who ask at once share one reading. */
function keepContents(place: Place, file: FoundFile): Promise<Uint8Array> {
  const { owner, root, memory } = place
  const bytes = readBelow(owner, root, file.path)
  if (!file.settled) return bytes
  const key = contentsKey(place, file)
  memory.set(key, { stamp: file.stamp, bytes } satisfies Contents, file.size)
  const forget = (): void => memory.set(key, undefined, 0)
  bytes.then(({ byteLength }) => {
    if (byteLength !== file.size) forget()
  }, forget)
  return bytes
}

async function frontmatterOf({ owner, root, remembered }: Place, markdown: FoundFile): Promise<Frontmatter> {
  const { path, stamp, settled } = markdown
  if (remembered.frontmatter?.stamp === stamp) return remembered.frontmatter.value
  const value = parseFrontmatter(owner, new TextDecoder().decode(await readBelow(owner, root, path)))
  if (settled) remembered.frontmatter = { stamp, value }
  return value
}

/** @throws TypeError for text that does not begin with the YAML of an object. */
function parseFrontmatter(owner: string, text: string): Frontmatter {
  const yaml = FRONTMATTER.exec(text.slice(0, MAX_FRONTMATTER))?.[1]
  if (yaml === undefined)
    throw new TypeError(`${owner}: ${SKILL_FILE} must begin with front matter between lines of ---`)
  let value: unknown
  try {
    value = parse(yaml, { schema: 'core', maxAliasCount: 100, logLevel: 'error' })
  } catch (cause) {
    throw new TypeError(`${owner}: the front matter of ${SKILL_FILE} is not YAML`, { cause })
  }
  return toFrontmatter(owner, value)
}
