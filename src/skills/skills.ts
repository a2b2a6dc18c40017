import { McpError } from '../errors.js'
import { assertOptions } from '../options.js'
import type { Json, ResourceSpec } from '../protocol/model.js'
import { field } from '../router/field.js'
import { Resource, type ResourceReturn } from '../router/resource-result.js'
import type { Session } from '../router/session.js'
import { Extension, type ExtensionHost } from '../server/extension.js'
import { type Hint, isLimited, listHint, ownHint } from './hints.js'
import { childrenOf, fileResource, manifestOf } from './manifest.js'
import { mediaTypeOf } from './media-type.js'
import { defineRoute, type SkillHandler, templateOf } from './route.js'
import { type ServedSkill, SkillShelf } from './shelf.js'
import { isSkillList, SKILL_FILE, type SkillList } from './skill.js'
import { parseSkillUri, skillUri } from './uri.js'

/** How skills are offered. */
export interface SkillsOptions<Assigns extends object = object> {
  /**
   * Which skills are listed, page by page; the cursor is yours, undefined for the first page. Skills that are not listed are
   * served all the same. Without it, the routes without variables are listed by their path.
   */
  readonly list?: (cursor: string | undefined, session: Session<Assigns>) => SkillList | PromiseLike<SkillList>
}

/** A page of skills that the caller may have. */
interface ListedSkills {
  readonly skills: readonly ServedSkill[]
  readonly nextCursor: string | undefined
  /** All that the page names is in it, and others would get the same one. */
  readonly shared: boolean
  readonly hint: Hint | undefined
}

interface SkillPage extends Pick<ListedSkills, 'nextCursor' | 'hint'> {
  readonly uris: readonly string[]
}
interface ResourcePage extends Hint {
  readonly resources: readonly ResourceSpec[]
  readonly nextCursor?: string
}

const CURSOR = { paginated: true, cacheable: true } as const
const URI = { params: { uri: field.string({ required: true }) } } as const

/**
 * The extension `io.modelcontextprotocol/skills`: instructions and files for the model, served under `skill://`. Made by
 * {@link skills}; give it to `createRouter({ extensions })`.
 */
export class Skills<Assigns extends object = object> implements Extension<Assigns> {
  readonly id = 'io.modelcontextprotocol/skills'
  readonly settings: Json = { directoryRead: true }
  readonly methods: NonNullable<Extension<Assigns>['methods']> = {
    'skills/list': Extension.method(CURSOR, (_params, session, host) => this.#list(session, host)),
    'skills/get': Extension.method({ ...URI, cacheable: true }, ({ uri }, session) => this.#get(uri, session)),
    'resources/directory/read': Extension.method({ ...URI, cacheable: true }, (params, session) =>
      this.#readDirectory(params, session),
    ),
  }
  readonly resources: NonNullable<Extension<Assigns>['resources']> = {
    scheme: 'skill',
    list: (cursor, session, host) => this.#listFiles(cursor, session, host),
    read: (uri, session) => this.#read(uri, session),
    resolve: (uri, sees) => {
      const segments = parseSkillUri(uri)
      const found = segments && this.#shelf.resolve(segments, sees)
      return (
        found && { params: found.params, template: { name: found.route.path, uriTemplate: templateOf(found.route) } }
      )
    },
  }
  /** Called for each server that runs the router. */
  readonly attach = (host: ExtensionHost): void => {
    this.#hosts.add(host)
    host.onClose(() => void this.#hosts.delete(host))
  }
  readonly #hosts = new Set<ExtensionHost>()
  readonly #shelf = new SkillShelf()
  readonly #callback: SkillsOptions<Assigns>['list']

  /** @internal */
  constructor(options: SkillsOptions<Assigns>) {
    assertOptions('skills', options, ['list'])
    if (options.list !== undefined && typeof options.list !== 'function')
      throw new TypeError('skills: list must be a function')
    this.#callback = options.list
  }

  /**
   * Serves a skill at `skill://<path>`. The last segment is its name; segments behind the first may be variables, `:id`. A path
   * inside of another one is a nested skill. An allow-list of resources names the path as it is written here.
   *
   * @throws TypeError that names the path and the mend.
   * @example
   * guides.route('studies/:id/study-review', ({ id }) => Skill.build({ frontmatter, body: `Review study ${id}.` }))
   */
  route<const Path extends string>(path: Path, handler: SkillHandler<Path, Assigns>): this {
    this.#shelf.add(defineRoute(path, handler))
    for (const host of this.#hosts) host.notifyResourceList().catch(host.report)
    return this
  }

  async #list(session: Session, host: ExtensionHost): Promise<object> {
    const listed = await this.#listed(session.params['cursor'] as string | undefined, session, host)
    const entries: object[] = []
    let whole = listed.shared
    for (const skill of listed.skills) {
      const entry = await manifestOf(skill).catch(host.report)
      if (entry === undefined) whole = false
      else entries.push(entry)
    }
    return { skills: entries, ...nextOf(listed), ...listHint(listed.skills, listed.hint, whole) }
  }

  async #listFiles(cursor: string | undefined, session: Session, host: ExtensionHost): Promise<ResourcePage> {
    const listed = await this.#listed(cursor, session, host)
    const resources = listed.skills.flatMap(({ at, files }): ResourceSpec[] => {
      const file = files.get(SKILL_FILE)
      return file === undefined ? [] : [fileResource([...at, SKILL_FILE], file)]
    })
    return { resources, ...nextOf(listed), ...listHint(listed.skills, listed.hint, listed.shared) }
  }

  async #get(uri: string, session: Session): Promise<object> {
    const found = await this.#find(uri, session)
    if (found === undefined || found.below.join('/') !== SKILL_FILE)
      throw new McpError('INVALID_PARAMS', `There is no skill at ${uri}`, { data: { uri } })
    return { skill: await manifestOf(found.skill), ...ownHint(found.skill, session) }
  }

  async #read(uri: string, session: Session): Promise<ResourceReturn> {
    const found = await this.#find(uri, session)
    const served = found?.skill.files.get(found.below.join('/'))
    if (found === undefined || served === undefined) return null
    const bytes = await served.file.read()
    const mimeType = mediaTypeOf(uri)
    const text = textOf(bytes)
    const type = mimeType === undefined ? {} : { mimeType }
    const contents = text === undefined ? Resource.blob(bytes, type) : Resource.text(text, type)
    return { ...contents, ...ownHint(found.skill, session) }
  }

  async #readDirectory({ uri }: { readonly uri: string }, session: Session): Promise<object> {
    const found = session.params['cursor'] === undefined ? await this.#find(uri, session) : undefined
    const resources = found && childrenOf(found.skill, found.below)
    if (found !== undefined && resources !== undefined) return { resources, ...ownHint(found.skill, session) }
    throw new McpError('INVALID_PARAMS', `There is no directory of a skill at ${uri}`, { data: { uri } })
  }

  async #find(uri: string, session: Session): Promise<{ skill: ServedSkill; below: readonly string[] } | undefined> {
    const segments = parseSkillUri(uri)
    const skill = segments && (await this.#shelf.find(segments, session))
    return skill && { skill, below: (segments ?? []).slice(skill.at.length) }
  }

  async #listed(cursor: string | undefined, session: Session, host: ExtensionHost): Promise<ListedSkills> {
    const { uris, nextCursor, hint } = await this.#page(cursor, session, host)
    const skills: ServedSkill[] = []
    for (const uri of uris) {
      try {
        const found = await this.#find(uri, session)
        if (found?.below.join('/') === SKILL_FILE) skills.push(found.skill)
      } catch (error) {
        // One skill that cannot be served does not cost the others.
        host.report(error)
      }
    }
    return {
      skills,
      nextCursor,
      hint,
      shared: hint?.cacheScope !== 'private' && skills.length === uris.length && !isLimited(session),
    }
  }

  async #page(cursor: string | undefined, session: Session, host: ExtensionHost): Promise<SkillPage> {
    if (this.#callback === undefined) {
      const paths = this.#shelf.fixedPaths(session).map((name) => ({ name }))
      const { entries, nextCursor } = host.page('skills', paths, cursor)
      return {
        uris: entries.map(({ name }) => skillUri([...name.split('/'), SKILL_FILE])),
        nextCursor,
        hint: undefined,
      }
    }
    const list: unknown = await this.#callback(cursor, session as never)
    if (!isSkillList(list)) throw new TypeError('skills, list: it must return Skill.list(uris, nextCursor)')
    const { uris, nextCursor, ttlMs, cacheScope } = list
    // What an application lists may differ from caller to caller: only its own word makes it public.
    return {
      uris,
      nextCursor,
      hint: { cacheScope: cacheScope ?? 'private', ...(ttlMs === undefined ? {} : { ttlMs }) },
    }
  }
}

function nextOf({ nextCursor }: ListedSkills): { nextCursor?: string } {
  return nextCursor === undefined ? {} : { nextCursor }
}

/** Text where the bytes are exactly that, so that what the client hashes is what was published. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/**
 * Makes the skills extension.
 *
 * @throws TypeError for an option that is unknown or no function.
 * @example
 * const guides = skills()
 * guides.route('git-workflow', () => fromDirectory('skills/git-workflow'))
 * createRouter({ name: 'studies', version: '1.0.0', extensions: [guides] })
 */
export function skills<Assigns extends object = object>(options: SkillsOptions<Assigns> = {}): Skills<Assigns> {
  return new Skills(options)
}
