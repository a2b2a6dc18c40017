import type { Awaitable } from '../awaitable.js'
import type { Session } from '../router/session.js'
import { isSkillName } from './frontmatter.js'
import { SKILL_FILE, type Skill, type SkillSource } from './skill.js'
import { isSegment } from './uri.js'

type ParamOf<Segment extends string> = Segment extends `:${infer Name}` ? Name : never
type ParamsIn<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParamOf<Head> | ParamsIn<Tail>
  : ParamOf<Path>

/** What a skill's handler gets from a path: a string for each `:name`. */
export type SkillParams<Path extends string> = { readonly [Name in ParamsIn<Path>]: string }

/** Gives the skill at a path; null or undefined: there is none for this caller. */
export type SkillHandler<Path extends string, Assigns extends object> = (
  params: SkillParams<Path>,
  session: Session<Assigns>,
) => Awaitable<Skill | SkillSource | null | undefined>

/** A path with the handler of what is there. */
export interface SkillRoute {
  /** As it was given: its name in allow-lists. */
  readonly path: string
  readonly segments: readonly string[]
  readonly fixed: boolean
  readonly handler: (params: never, session: never) => unknown
}

const FIRST = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/
const PARAM = /^:[a-z_]\w*$/i
const isParam = (segment: string): boolean => segment.startsWith(':')

/** @throws TypeError that names the path and the mend. */
export function defineRoute(path: string, handler: unknown): SkillRoute {
  const owner = `skill '${path}'`
  const segments = typeof path === 'string' ? path.split('/') : []
  const [first = ''] = segments
  if (!FIRST.test(first))
    throw new TypeError(`${owner}: a path begins with lower-case letters, digits, '-' and '.', and not with a variable`)
  const wrong = segments.find((segment) => (isParam(segment) ? !PARAM.test(segment) : !isSegment(segment)))
  if (wrong !== undefined) throw new TypeError(`${owner}: '${wrong}' is no segment of a path`)
  if (segments.includes(SKILL_FILE))
    throw new TypeError(`${owner}: leave ${SKILL_FILE} out, it is what is served there`)
  const last = segments.at(-1) ?? ''
  if (!isParam(last) && !isSkillName(last))
    throw new TypeError(
      `${owner}: the last segment is the skill's name: lower-case letters and digits with single hyphens`,
    )
  const params = segments.filter(isParam)
  if (new Set(params).size < params.length) throw new TypeError(`${owner}: a variable is there twice`)
  if (typeof handler !== 'function') throw new TypeError(`${owner}: the last argument must be its handler, a function`)
  return { path, segments, fixed: params.length === 0, handler: handler as SkillRoute['handler'] }
}

/** The directory of a route's skills, as a template. */
export function templateOf({ segments }: SkillRoute): string {
  return `skill://${segments.map((segment) => (isParam(segment) ? `{${segment.slice(1)}}` : encodeURIComponent(segment))).join('/')}`
}

/** Whether `inner` is the path of a skill inside of what `outer` serves. */
export function isNested(inner: SkillRoute, outer: SkillRoute): boolean {
  return (
    inner.segments.length > outer.segments.length &&
    outer.segments.every((segment, index) => inner.segments[index] === segment)
  )
}

/** @throws TypeError for a path that is there already, and for a nested one that adds a variable. */
export function assertFits(routes: readonly SkillRoute[], added: SkillRoute): void {
  for (const route of routes) {
    if (shapeOf(route) === shapeOf(added))
      throw new TypeError(`skill '${added.path}': the path is that of skill '${route.path}'`)
    for (const [inner, outer] of [
      [added, route],
      [route, added],
    ] as const) {
      if (isNested(inner, outer) && inner.segments.slice(outer.segments.length).some(isParam))
        throw new TypeError(`skill '${inner.path}': it is inside of skill '${outer.path}' and cannot add a variable`)
    }
  }
}

const shapeOf = ({ segments }: SkillRoute): string =>
  segments.map((segment) => (isParam(segment) ? ':' : segment)).join('/')

/** Values of a route's variables for the segments that it covers; undefined when they do not fit. */
export function matchRoute(route: SkillRoute, segments: readonly string[]): Record<string, string> | undefined {
  if (segments.length < route.segments.length) return undefined
  const params: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [index, expected] of route.segments.entries()) {
    const given = segments[index] as string
    if (isParam(expected)) params[expected.slice(1)] = given
    else if (expected !== given) return undefined
  }
  return params
}

/** The deepest first, and of two as deep the one with text where the other has a variable first. */
export function compareRoutes(a: SkillRoute, b: SkillRoute): number {
  if (a.segments.length !== b.segments.length) return b.segments.length - a.segments.length
  const at = a.segments.findIndex((segment, index) => isParam(segment) !== isParam(b.segments[index] as string))
  return at < 0 ? 0 : isParam(a.segments[at] as string) ? 1 : -1
}
