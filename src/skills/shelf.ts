import { pick } from '../options.js'
import type { Session } from '../router/session.js'
import type { Frontmatter } from './frontmatter.js'
import { skillMemory } from './memory.js'
import { assertFits, compareRoutes, isNested, matchRoute, type SkillRoute } from './route.js'
import {
  assertExtent,
  isSkill,
  isSkillSource,
  SKILL_FILE,
  type Skill,
  type SkillFile,
  type SkillSource,
} from './skill.js'

/** A file as it is served: SKILL.md with what its front matter says. */
export interface ServedFile {
  readonly file: SkillFile
  readonly frontmatter: Frontmatter | undefined
}

/** A skill where it is served, with those inside of it. */
export interface ServedSkill {
  /** Segments of its directory. */
  readonly at: readonly string[]
  readonly frontmatter: Frontmatter
  readonly files: ReadonlyMap<string, ServedFile>
  readonly dynamic: boolean
  readonly hint: { readonly ttlMs?: number; readonly cacheScope?: 'public' | 'private' }
}

/** Directories, and bytes of their files, that are remembered at once. */
const REMEMBERED = { values: 256, bytes: 33_554_432 }

/** The routes of skills, and what they lead to. */
export class SkillShelf {
  #routes: readonly SkillRoute[] = []
  readonly #memory = skillMemory(REMEMBERED)

  /** @throws TypeError for a path that does not go with those that are there. */
  add(route: SkillRoute): void {
    assertFits(this.#routes, route)
    this.#routes = [...this.#routes, route].sort(compareRoutes)
  }

  /** Paths without variables that this caller sees, in their order. */
  fixedPaths(session: Session): readonly string[] {
    const seen = this.#routes.filter((route) => route.fixed && this.#sees(route, session))
    return seen.map(({ path }) => path).sort()
  }

  /** The path that leads to what is at these segments, by its form alone, and the values of its variables. */
  resolve(segments: readonly string[], sees: Sees): ResolvedRoute | undefined {
    const route = this.#owners(segments).find((candidate) => this.#isSeen(candidate, sees))
    return route && { route, params: matchRoute(route, segments) ?? {} }
  }

  /**
   * The skill that owns what is at these segments. A deeper skill owns its directory, whatever a skill around it has there, and
   * whether or not this caller sees it.
   */
  async find(segments: readonly string[], session: Session): Promise<ServedSkill | undefined> {
    for (const route of this.#owners(segments)) {
      const at = segments.slice(0, route.segments.length)
      const served = await this.#serve(route, at, session)
      if (served !== undefined) return served
    }
    return undefined
  }

  /** Routes that may own what is at these segments; the first that has a skill does. */
  #owners(segments: readonly string[]): readonly SkillRoute[] {
    const candidates = this.#routes.filter((route) => matchRoute(route, segments) !== undefined)
    return candidates.filter((route, at) => !candidates.slice(0, at).some((deeper) => isNested(deeper, route)))
  }

  #sees(route: SkillRoute, session: Session): boolean {
    return this.#isSeen(route, (name) => session.sees('resourceTemplates', name))
  }

  /** An allow-list that names a path covers what is inside of it. */
  #isSeen(route: SkillRoute, sees: Sees): boolean {
    const around = this.#routes.filter((outer) => outer === route || isNested(route, outer))
    return around.some(({ path }) => sees(path))
  }

  async #serve(route: SkillRoute, at: readonly string[], session: Session): Promise<ServedSkill | undefined> {
    const skill = await this.#load(route, at, session)
    if (skill === undefined) return undefined
    const files = new Map<string, ServedFile>()
    this.#put(files, skill, { route, below: [] })
    let { dynamic } = skill
    for (const inner of this.#inside(route)) {
      const below = inner.segments.slice(at.length)
      const nested = await this.#load(inner, [...at, ...below], session)
      if (nested === undefined) continue
      this.#put(files, nested, { route: inner, below })
      dynamic ||= nested.dynamic
    }
    assertExtent(
      `skill '${route.path}'`,
      [...files.values()].map(({ file }) => file),
    )
    return { at, frontmatter: skill.frontmatter, files, dynamic, hint: pick(skill, ['ttlMs', 'cacheScope']) }
  }

  #inside(route: SkillRoute): readonly SkillRoute[] {
    return this.#routes.filter((inner) => isNested(inner, route))
  }

  /** The files of one skill; what a deeper one owns is that one's to give. */
  #put(files: Map<string, ServedFile>, skill: Skill, { route, below }: Put): void {
    const depth = route.segments.length
    const owned = this.#inside(route).map((inner) => `${inner.segments.slice(depth).join('/')}/`)
    for (const [path, file] of skill.files) {
      if (owned.some((directory) => path.startsWith(directory))) continue
      const frontmatter = path === SKILL_FILE ? skill.frontmatter : undefined
      files.set([...below, path].join('/'), { file, frontmatter })
    }
  }

  /** @throws TypeError when the handler gives something else than a skill of this name. */
  async #load(route: SkillRoute, at: readonly string[], session: Session): Promise<Skill | undefined> {
    if (!this.#sees(route, session)) return undefined
    const handler = route.handler as (params: unknown, session: Session) => unknown
    const returned: unknown = await handler(matchRoute(route, at), session)
    const skill: unknown = isSkillSource(returned) ? await this.#open(returned) : returned
    if (skill === null || skill === undefined) return undefined
    const owner = `skill '${route.path}'`
    if (!isSkill(skill))
      throw new TypeError(`${owner}: its handler must return Skill.build(…), fromDirectory(…) or null`)
    const { name } = skill.frontmatter
    if (name === at.at(-1)) return skill
    throw new TypeError(`${owner}: the skill is called '${name}', but its path ends with '${at.at(-1)}'`)
  }

  async #open(source: SkillSource): Promise<Skill | null> {
    const skill = await source.load(this.#memory)
    return skill && { ...skill, ...pick(source, ['ttlMs', 'cacheScope']) }
  }
}

/** Whether an allow-list leaves a path there. */
type Sees = (path: string) => boolean

export interface ResolvedRoute {
  readonly route: SkillRoute
  readonly params: Readonly<Record<string, string>>
}

interface Put {
  readonly route: SkillRoute
  /** Segments between the skill that is served and this one. */
  readonly below: readonly string[]
}
