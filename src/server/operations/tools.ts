import { type Awaitable, andThen } from '../../awaitable.js'
import { McpError } from '../../errors.js'
import type { Result } from '../../protocol/model.js'
import { isToolOutcome, type ToolOutcome } from '../../router/extension-outcome.js'
import type { Checked } from '../../router/schema.js'
import type { Session, Visible } from '../../router/session.js'
import type { ToolDefinition } from '../../router/tool.js'
import { Tool, type ToolResult, toToolResult } from '../../router/tool-result.js'
import { InputRequiredResult } from '../asking/input-required-result.js'
import { CallTimedOut } from '../call-over.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler, ServerContext } from '../context.js'
import { admitTool, settleOutcome } from '../extension-tools.js'
import { runOffered, targetOf } from '../run-offered.js'
import { objectParam, stringParam } from './params.js'

type AnyTool = ToolDefinition<never>

export const listTools: OperationHandler = ({ router, pages }, session) => {
  assertOffered(session, 'tools', router.catalogue.tools)
  return pages.page('tools', session)
}

/** Nothing here waits for what is there already: a tool without promises is answered in the turn that asked. */
export const callTool: OperationHandler = (context, session) => {
  const { tools } = context.router.catalogue
  assertOffered(session, 'tools', tools)
  const name = stringParam(session.params, 'name')
  const offered = session.sees('tools', name) ? tools.get(name) : undefined
  if (offered === undefined) throw new McpError('INVALID_PARAMS', `Unknown tool: ${name}`)
  const { definition } = offered
  const target = targetOf(context, offered, definition.replay)
  const run = (): Awaitable<Result> => context.asking.run(session, target, (own) => runTool(context, own, definition))
  return runOffered(offered, session, () =>
    definition.added === undefined ? run() : admitTool(context, session, definition.added).then(run),
  )
}

function runTool(context: ServerContext, session: CallSession, tool: AnyTool): Awaitable<Result> {
  return andThen(tool.input.check(objectParam(session.params, 'arguments')), (checked): Awaitable<Result> => {
    if (!checked.ok) return refuseArguments(session, checked.errors)
    return andThen(
      runHandler(context, session, { tool, params: checked.value }),
      (value): Awaitable<Result> => settled(context, { tool, session, value }),
    )
  })
}

function settled(context: ServerContext, { value, ...call }: Returned): Awaitable<Result> {
  if (value instanceof InputRequiredResult) return value
  return isToolOutcome(value)
    ? finishOutcome(context, { ...call, outcome: value })
    : finish(context, { ...call, value })
}

interface Returned {
  readonly tool: AnyTool
  readonly session: CallSession
  readonly value: unknown
}

function finish(context: ServerContext, { tool, session, value }: Returned): Awaitable<ToolResult> {
  return checkOutput(context, { tool, session, result: toToolResult(value, tool.output !== undefined) })
}

/** An extension answers: with a result of its own, or with what the tool might have returned itself. */
async function finishOutcome(
  context: ServerContext,
  { outcome, ...call }: Omit<Returned, 'value'> & { readonly outcome: ToolOutcome },
): Promise<object> {
  const finished = (value: unknown): Awaitable<object> => finish(context, { ...call, value })
  const answer = await settleOutcome(context, { ...call, finish: finished }, outcome)
  return 'result' in answer ? answer.result : await finished(answer.value)
}

interface Handled {
  readonly tool: AnyTool
  readonly params: unknown
}

function runHandler(context: ServerContext, session: CallSession, { tool, params }: Handled): unknown {
  const handler = tool.handler as (params: unknown, session: Session) => unknown
  const handle = (): unknown => context.asking.handle(session, () => handler(params, session))
  if (tool.limits.timeoutMs === undefined && tool.limits.maxConcurrency === undefined) return handle()
  return Promise.resolve(context.limits.run(tool, session, handle)).catch((error: unknown) => {
    if (error instanceof CallTimedOut) return Tool.error(error.message)
    throw error
  })
}

/** SEP-1303: what is wrong with the arguments is the model's to mend, where the version says so. */
function refuseArguments({ client }: CallSession, errors: readonly string[]): ToolResult {
  if (client.codec.argumentFailure === 'result') return Tool.error(`Invalid arguments: ${errors.join('; ')}`)
  throw new McpError('INVALID_PARAMS', 'Invalid arguments', { data: { validation_errors: errors } })
}

interface Answered {
  readonly tool: AnyTool
  readonly session: CallSession
  readonly result: ToolResult
}

/** 2026-07-28 server/tools, Output Schema: structured results conform, or the call has failed. */
function checkOutput(context: ServerContext, answered: Answered): Awaitable<ToolResult> {
  const { tool, result } = answered
  if (tool.output === undefined || result.isError === true) return result
  return andThen(tool.output.check(result.structuredContent), (checked) => conform(context, answered, checked))
}

function conform(context: ServerContext, { tool, session, result }: Answered, checked: Checked): ToolResult {
  if (checked.ok) {
    if (checked.value === result.structuredContent) return result
    const { content: _text, ...rest } = result
    return { ...Tool.structured(checked.value), ...rest, structuredContent: checked.value }
  }
  const problems = checked.errors.join('; ')
  context.report(new TypeError(`tool '${tool.name}' returned what its output schema refuses: ${problems}`), session)
  return Tool.error(`The tool's result does not fit its output schema: ${problems}`)
}

/** 2026-07-28 server/discover: what was not declared to this caller is not there. */
export function assertOffered(session: CallSession, what: Visible, group: ReadonlyMap<string, unknown>): void {
  for (const name of group.keys()) if (session.sees(what, name)) return
  throw new McpError('METHOD_NOT_FOUND', `This server has no ${what}`)
}
