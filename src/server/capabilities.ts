import type { ServerCapabilities } from '../protocol/model.js'
import type { Router } from '../router/router.js'

/** What is said of the router in `initialize` and `server/discover`: what is not there is not declared. */
export function capabilitiesOf(router: Router<never>): ServerCapabilities {
  const { tools, prompts, resources } = router.catalogue
  return {
    ...(tools.size > 0 ? { tools: {} } : {}),
    ...(prompts.size > 0 ? { prompts: {} } : {}),
    ...(resources.size > 0 || router.options.listResources !== undefined ? { resources: {} } : {}),
    ...(canComplete(router) ? { completions: {} } : {}),
    logging: {},
  }
}

export function canComplete(router: Router<never>): boolean {
  const { prompts, resources } = router.catalogue
  const promptCompletes = [...prompts.values()].some((prompt) =>
    [...prompt.definition.arguments.values()].some(({ complete }) => complete !== undefined),
  )
  return promptCompletes || [...resources.values()].some(({ definition }) => definition.completers.size > 0)
}
