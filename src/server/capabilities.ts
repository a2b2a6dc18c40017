import type { Json, ServerCapabilities } from '../protocol/model.js'
import type { Router } from '../router/router.js'
import type { Session, Visible } from '../router/session.js'

import type { CallSession } from './call-session.js'
import { settingsOf } from './extension-settings.js'

/** What is declared of the extensions that this caller's version has. */
function extensionsFor(router: Router<never>, session: CallSession): Readonly<Record<string, Json>> {
  const settings = router.extensions.in(session.client.codec).map((one) => [one.id, settingsOf(one, session)] as const)
  return Object.fromEntries(settings.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** What is said of the router in `initialize` and `server/discover`: what is not there for this caller is not declared. */
export function capabilitiesOf(router: Router<never>, session: CallSession): ServerCapabilities {
  const { tools, prompts, resources } = router.catalogue
  const sees = (what: Visible, group: ReadonlyMap<string, unknown>): boolean =>
    [...group.keys()].some((name) => session.sees(what, name))
  const extensions = extensionsFor(router, session)
  const hasAdded = router.extensions.all.some(
    ({ id, resources: added }) => added !== undefined && Object.hasOwn(extensions, id),
  )
  // What cannot be told is not promised: a client of a version with sessions needs one to have a stream.
  const changes = session.client.reachable ? { listChanged: true } : {}
  const follows = session.client.reachable ? { subscribe: true, listChanged: true } : {}
  return {
    ...(sees('tools', tools) ? { tools: changes } : {}),
    ...(sees('prompts', prompts) ? { prompts: changes } : {}),
    ...(sees('resourceTemplates', resources) || router.options.listResources !== undefined || hasAdded
      ? { resources: follows }
      : {}),
    ...(canComplete(router, session) ? { completions: {} } : {}),
    logging: {},
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
  }
}

/** Whether anything that the caller sees can be completed. */
export function canComplete(router: Router<never>, session: Session): boolean {
  const { prompts, resources } = router.catalogue
  for (const { name, definition } of prompts.values()) {
    const completes = [...definition.arguments.values()].some(({ complete }) => complete !== undefined)
    if (completes && session.sees('prompts', name)) return true
  }
  for (const { name, definition } of resources.values()) {
    if (definition.completers.size > 0 && session.sees('resourceTemplates', name)) return true
  }
  return false
}
