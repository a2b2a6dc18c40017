import { pick } from '../options.js'
import type { Icon, Json } from '../protocol/model.js'
import type { Session } from './session.js'

/** Members that tools, prompts and resources share, as clients see them. */
export interface DescribedOptions {
  /** A name for people; `name` is for programs. */
  readonly title?: string
  /** What the model reads when it chooses: short and exact. */
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly _meta?: Json
}

/** Something that a router can offer; `Assigns` is what its handler wants to find in the session. */
export interface Definition<Assigns extends object = object> {
  readonly name: string
  /** Holds the session's type; never called. */
  readonly '~session'?: (session: Session<Assigns>) => void
}

const NAME = /^[\p{L}\p{M}\p{N}_.-]{1,128}$/u

/** @throws TypeError for a name that clients could not send back safely. */
export function assertName(what: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && NAME.test(name)) return
  const shown = typeof name === 'string' ? `'${name}'` : String(name)
  throw new TypeError(
    `${what} ${shown}: a name is 1 to 128 letters, digits, '_', '-' or '.', without spaces or slashes`,
  )
}

/** @throws TypeError when the option `owner` has something that cannot be called. */
export function assertFunction(owner: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${owner}: it must be a function, not ${typeof value}`)
}

/** @throws TypeError when there is no function to call. */
export function assertHandler(owner: string, handler: unknown): void {
  if (typeof handler !== 'function') {
    throw new TypeError(`${owner}: the last argument must be its handler, a function, not ${typeof handler}`)
  }
}

const DESCRIBED = ['title', 'description', 'icons', '_meta'] as const

/** The shared members that were given, ready for the wire. @throws TypeError for one of the wrong kind. */
export function describedMembers(owner: string, options: DescribedOptions): DescribedOptions {
  const { title, description, icons, _meta } = options
  for (const [name, value] of Object.entries({ title, description })) {
    if (value !== undefined && typeof value !== 'string') {
      throw new TypeError(`${owner}: ${name} must be a string, not ${typeof value}`)
    }
  }
  if (icons !== undefined && !(Array.isArray(icons) && icons.every((icon) => typeof icon?.src === 'string'))) {
    throw new TypeError(`${owner}: icons must be a list of { src, mimeType?, sizes?, theme? }`)
  }
  if (_meta !== undefined && (typeof _meta !== 'object' || _meta === null || Array.isArray(_meta))) {
    throw new TypeError(`${owner}: _meta must be an object`)
  }
  return pick(options, DESCRIBED)
}

export const DESCRIBED_OPTIONS: readonly string[] = DESCRIBED
