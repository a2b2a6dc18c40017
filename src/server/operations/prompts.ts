import { McpError } from '../../errors.js'
import type { Offered } from '../../router/catalogue.js'
import type { PromptDefinition } from '../../router/prompt.js'
import { type RawPromptResult, toPromptResult } from '../../router/prompt-result.js'
import type { Session } from '../../router/session.js'
import type { OperationHandler } from '../context.js'
import { whenAnswered } from '../deferral.js'
import { runOffered } from '../run-offered.js'
import { objectParam, stringParam } from './params.js'
import { assertOffered } from './tools.js'

export const listPrompts: OperationHandler = ({ router, pages }, session) => {
  assertOffered(session, 'prompts', router.catalogue.prompts)
  return pages.page('prompts', session)
}

export const getPrompt: OperationHandler = async ({ router }, session): Promise<RawPromptResult> => {
  const { prompts } = router.catalogue
  assertOffered(session, 'prompts', prompts)
  const name = stringParam(session.params, 'name')
  const prompt = session.sees('prompts', name) ? prompts.get(name) : undefined
  if (prompt === undefined) throw new McpError('INVALID_PARAMS', `Unknown prompt: ${name}`)
  const { handler, spec } = prompt.definition
  return await runOffered(prompt, session, async () => {
    const filled = await parsed(prompt, argumentsOf(prompt, objectParam(session.params, 'arguments')))
    const returned = await (handler as (params: unknown, session: Session) => unknown)(filled, session)
    return toPromptResult(await whenAnswered(session, returned), spec.description)
  })
}

/** What the handler gets: the arguments, or what their schema makes of them. */
async function parsed(
  { name, definition }: Offered<PromptDefinition<never>>,
  filled: Record<string, string>,
): Promise<unknown> {
  if (definition.schema === undefined) return filled
  const checked = await definition.schema.check({ ...filled })
  if (checked.ok) return checked.value
  const data = { validation_errors: checked.errors }
  throw new McpError('INVALID_PARAMS', `Invalid arguments of prompt '${name}': ${checked.errors.join('; ')}`, { data })
}

/** 2026-07-28 server/prompts: arguments are strings, and the required ones are there before the handler runs. */
function argumentsOf(
  { name: prompt, definition }: Offered<PromptDefinition<never>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const filled = Object.create(null) as Record<string, string>
  for (const [name, { required }] of definition.arguments) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    if (value === undefined && required) {
      throw new McpError('INVALID_PARAMS', `Prompt '${prompt}' needs the argument '${name}'`)
    }
    if (value !== undefined && typeof value !== 'string') {
      throw new McpError('INVALID_PARAMS', `Argument '${name}' of prompt '${prompt}' must be a string`)
    }
    if (value !== undefined) filled[name] = value
  }
  return filled
}
