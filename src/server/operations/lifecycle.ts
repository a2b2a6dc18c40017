import { McpError } from '../../errors.js'
import { DISCOVERED_VERSIONS, negotiateCodec } from '../../protocol/codecs.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Implementation } from '../../protocol/model.js'
import { capabilitiesOf } from '../capabilities.js'
import type { OperationHandler } from '../context.js'
import { infoFor, instructionsFor } from '../told.js'
import { objectParam, stringParam } from './params.js'

/** A session keeps what its client said of itself for as long as it lives. */
const MAX_CLIENT_CHARACTERS = 65_536

/** Begins a session: its client is named, and from here on speaks the version that was agreed. */
export const initialize: OperationHandler = (context, session) => {
  const { client, params } = session
  const codec = negotiateCodec(stringParam(params, 'protocolVersion'))
  const capabilities = objectParam(params, 'capabilities')
  const info = objectParam(params, 'clientInfo')
  if (JSON.stringify([capabilities, info]).length > MAX_CLIENT_CHARACTERS) {
    const message = `params.capabilities and params.clientInfo have more than ${MAX_CLIENT_CHARACTERS} characters together`
    throw new McpError('INVALID_PARAMS', message)
  }
  client.codec = codec
  client.capabilities = capabilities
  client.info = isObject(params['clientInfo']) ? (info as unknown as Implementation) : undefined
  const instructions = instructionsFor(context, session)
  // The specification wants a name here; who tells none gets an empty one.
  const serverInfo = infoFor(context, session) ?? { name: '', version: '' }
  return {
    protocolVersion: codec.version,
    capabilities: codec.project('capabilities', capabilitiesOf(context.router, session)),
    serverInfo: codec.project('implementation', serverInfo),
    ...(instructions === undefined ? {} : { instructions }),
  }
}

/** 2026-07-28 server/discover. */
export const discover: OperationHandler = (context, session) => {
  const instructions = instructionsFor(context, session)
  return {
    supportedVersions: DISCOVERED_VERSIONS,
    capabilities: capabilitiesOf(context.router, session),
    ...(instructions === undefined ? {} : { instructions }),
  }
}

export const ping: OperationHandler = () => ({})

export const setLogLevel: OperationHandler = (_context, session) => {
  const level = stringParam(session.params, 'level')
  try {
    session.setLogLevel(level as Parameters<typeof session.setLogLevel>[0])
  } catch {
    throw new McpError('INVALID_PARAMS', 'params.level is not a log level')
  }
  return {}
}
