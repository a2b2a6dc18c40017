import type { Json } from '../protocol/model.js'
import type { AnyExtension } from '../router/extensions.js'
import type { Session } from '../router/session.js'

/** What is declared of an extension to this caller; undefined when it is not there for them. */
export function settingsOf({ settings = {} }: AnyExtension, session: Session): Json | undefined {
  return typeof settings === 'function' ? (settings as (session: Session) => Json | undefined)(session) : settings
}
