import type { Json, ResourceSpec } from '../protocol/model.js'
import { mediaTypeOf } from './media-type.js'
import type { ServedFile, ServedSkill } from './shelf.js'
import { assertExtent, SKILL_FILE, type SkillFile } from './skill.js'
import { skillUri } from './uri.js'

/** Files that are read at once for their digests. */
const AT_ONCE = 8

/** What `skills/list` and `skills/get` say of a skill (io.modelcontextprotocol/skills, Skill). */
export async function manifestOf({ at, frontmatter, files, dynamic }: ServedSkill): Promise<Json> {
  const uri = skillUri([...at, SKILL_FILE])
  if (dynamic) return { uri, frontmatter, resources: 'dynamic' }
  const resources: Json[] = []
  const waiting = files.entries()
  const worker = async (): Promise<void> => {
    for (const [path, { file }] of waiting) {
      const { size, digest } = await measure(file)
      resources.push({ uri: skillUri([...at, ...path.split('/')]), digest, size })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const sizes = resources.map(({ size }) => ({ size: size as number, read: () => new Uint8Array() }))
  assertExtent(`skill '${at.join('/')}'`, sizes)
  return { uri, frontmatter, resources: resources.sort((a, b) => (String(a['uri']) < String(b['uri']) ? -1 : 1)) }
}

async function measure(file: SkillFile): Promise<{ readonly size: number; readonly digest: string }> {
  const { size } = file
  if (size !== undefined && file.digest !== undefined) return { size, digest: await file.digest() }
  const bytes = await file.read()
  return { size: bytes.byteLength, digest: await digestOf(bytes) }
}

/** `sha256:` and 64 hexadecimal digits. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
  return `sha256:${[...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** A file as a resource: SKILL.md is known by what its front matter says. */
export function fileResource(segments: readonly string[], { file, frontmatter }: ServedFile): ResourceSpec {
  const named = frontmatter ?? { name: segments.at(-1) as string }
  const mimeType = mediaTypeOf(segments.at(-1) as string)
  return {
    uri: skillUri(segments),
    name: named.name,
    ...(frontmatter === undefined ? {} : { description: frontmatter.description }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(file.size === undefined ? {} : { size: file.size }),
  }
}

/** What is directly below a directory of a skill; undefined when there is no such directory. */
export function childrenOf({ at, files }: ServedSkill, below: readonly string[]): readonly ResourceSpec[] | undefined {
  const start = below.map((segment) => `${segment}/`).join('')
  const children = new Map<string, ResourceSpec>()
  for (const [path, served] of files) {
    if (!path.startsWith(start)) continue
    const [name = '', ...deeper] = path.slice(start.length).split('/')
    const segments = [...at, ...below, name]
    const directory = { uri: skillUri(segments), name, mimeType: 'inode/directory' }
    children.set(name, deeper.length > 0 ? directory : fileResource(segments, served))
  }
  return children.size === 0 ? undefined : [...children.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1))
}
