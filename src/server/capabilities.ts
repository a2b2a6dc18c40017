import type { ServerCapabilities } from '../protocol/model.js'
import type { Router } from '../router/router.js'
import type { Session, Visible } from '../router/session.js'

/** What is said of the router in `initialize` and `server/discover`: what is not there for this caller is not declared. */
export function capabilitiesOf(router: Router<never>, session: Session): ServerCapabilities {
  const { tools, prompts, resources } = router.catalogue
  const sees = (what: Visible, group: ReadonlyMap<string, unknown>): boolean =>
    [...group.keys()].some((name) => session.sees(what, name))
  return {
    ...(sees('tools', tools) ? { tools: {} } : {}),
    ...(sees('prompts', prompts) ? { prompts: {} } : {}),
    ...(sees('resourceTemplates', resources) || router.options.listResources !== undefined ? { resources: {} } : {}),
    ...(canComplete(router, session) ? { completions: {} } : {}),
    logging: {},
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
