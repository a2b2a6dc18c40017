import type { Awaitable } from '../awaitable.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { ToolOutcome } from '../router/extension-outcome.js'
import type { ExtensionOutcome, OutcomeAnswer } from '../router/extension-rows.js'
import { existsIn } from '../router/extensions.js'
import type { ToolDefinition } from '../router/tool.js'
import type { CallSession } from './call-session.js'
import type { ServerContext } from './context.js'
import { assertDeclared } from './required.js'

type AnyTool = ToolDefinition<never>
type Added = Readonly<Record<string, unknown>>

/** Asks the extensions whose options the tool has. @throws McpError when one of them refuses the call. */
export async function admitTool({ router, host }: ServerContext, session: CallSession, added: Added): Promise<void> {
  for (const { toolOptions = {} } of router.extensions.all) {
    for (const [option, { admit }] of Object.entries(toolOptions)) {
      if (admit === undefined || !Object.hasOwn(added, option)) continue
      await (admit as (value: unknown, session: unknown, host: unknown) => Awaitable<void>)(
        added[option],
        session,
        host,
      )
    }
  }
}

interface OutcomeOf {
  readonly session: CallSession
  readonly tool: AnyTool
  /** What the call is answered with for a value that its tool returns. */
  readonly finish: (value: unknown) => Awaitable<object>
}

/** What the outcome of an extension comes to: a result of its type, or a value in the place of what the tool returned. */
export async function settleOutcome(
  { router, host }: ServerContext,
  { session, tool, finish }: OutcomeOf,
  outcome: ToolOutcome,
): Promise<{ readonly result: object } | { readonly value: unknown }> {
  const { resultType, value } = outcome
  const extension = router.extensions.all.find(({ id }) => id === outcome.extension)
  const row = extension?.outcomes?.[resultType] as ExtensionOutcome<object, unknown> | undefined
  if (extension === undefined || row === undefined) {
    throw new TypeError(
      `tool '${tool.name}' answered with '${resultType}' of extension '${outcome.extension}', which the router does not have: give it to createRouter({ extensions })`,
    )
  }
  const options = tool.added ?? {}
  const call = {
    session,
    host,
    tool: { name: tool.name, options },
    result: async (given: unknown) => await finish(given),
  }
  const answer = await (row.answer as (value: unknown, call: unknown) => Awaitable<OutcomeAnswer>)(value, call)
  if (!('members' in answer)) return answer
  // 2026-07-28 basic, Extensions: nobody gets what they have not declared.
  const unknownHere = !existsIn(extension, session.protocolVersion)
  const required = extension.requires ?? (unknownHere ? { extensions: { [extension.id]: {} } } : undefined)
  assertDeclared(unknownHere ? undefined : session, required, `tool '${tool.name}'`)
  if (isObject(answer.members)) return { result: { ...answer.members, resultType } }
  throw new TypeError(`extension '${extension.id}', outcome '${resultType}' must come to an object`)
}
