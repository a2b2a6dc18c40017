import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Json, Result } from '../../protocol/model.js'
import type { OfferedMethod } from '../../router/extensions.js'
import type { CallSession } from '../call-session.js'
import type { OperationHandler } from '../context.js'
import { settingsOf } from '../extension-settings.js'
import { assertDeclared } from '../required.js'

/** A method that an extension has added. */
export const serveExtension: OperationHandler = async ({ router, host }, session): Promise<Result> => {
  const { method } = session.call
  const offered = router.extensions.method(session.client.codec, method)
  if (offered === undefined || settingsOf(offered.extension, session) === undefined)
    throw new McpError('METHOD_NOT_FOUND', `Method not found: ${method}`)
  const { extension, row } = offered
  assertDeclared(session, row.requires ?? extension.requires, method)
  const params = await paramsOf(offered, session)
  const handler = row.handler as (params: unknown, session: unknown, host: unknown) => unknown
  const result: unknown = await handler(params, session, host)
  if (isObject(result)) return result
  throw new TypeError(`extension '${extension.id}', method '${method}' must return an object`)
}

/** @throws McpError `INVALID_PARAMS` for parameters that do not fit. */
async function paramsOf({ row, params: schema }: OfferedMethod, session: CallSession): Promise<unknown> {
  const { _meta, cursor, ...own } = session.params
  if (row.paginated && cursor !== undefined && typeof cursor !== 'string')
    throw new McpError('INVALID_PARAMS', 'params.cursor must be a string')
  const given: Json = row.paginated || cursor === undefined ? own : { ...own, cursor }
  if (schema === undefined) return given
  const checked = await schema.check(given)
  if (checked.ok) return checked.value
  const data = { validation_errors: checked.errors }
  throw new McpError('INVALID_PARAMS', `Invalid parameters: ${checked.errors.join('; ')}`, { data })
}
