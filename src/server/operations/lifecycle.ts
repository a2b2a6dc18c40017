import { McpError } from '../../errors.js'
import { DISCOVERED_VERSIONS, negotiateCodec } from '../../protocol/codecs.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Implementation } from '../../protocol/model.js'
import { capabilitiesOf } from '../capabilities.js'
import type { OperationHandler } from '../context.js'
import { objectParam, stringParam } from './params.js'

/** Begins a session: its client is named, and from here on speaks the version that was agreed. */
export const initialize: OperationHandler = ({ router }, { client, params }) => {
  const codec = negotiateCodec(stringParam(params, 'protocolVersion'))
  const capabilities = objectParam(params, 'capabilities')
  const info = objectParam(params, 'clientInfo')
  client.codec = codec
  client.capabilities = capabilities
  client.info = isObject(params['clientInfo']) ? (info as unknown as Implementation) : undefined
  const { instructions } = router.options
  return {
    protocolVersion: codec.version,
    capabilities: codec.project('capabilities', capabilitiesOf(router)),
    serverInfo: codec.project('implementation', router.info),
    ...(instructions === undefined ? {} : { instructions }),
  }
}

/** 2026-07-28 server/discover. */
export const discover: OperationHandler = ({ router }) => {
  const { instructions } = router.options
  return {
    supportedVersions: DISCOVERED_VERSIONS,
    capabilities: capabilitiesOf(router),
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
