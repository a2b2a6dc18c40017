import type { Operation } from '../../protocol/codec.js'
import type { OperationHandler } from '../context.js'
import { complete } from './completion.js'
import { serveExtension } from './extension.js'
import { discover, initialize, ping, setLogLevel } from './lifecycle.js'
import { listen } from './listen.js'
import { getPrompt, listPrompts } from './prompts.js'
import { listResources } from './resource-list.js'
import { listResourceTemplates, readResource } from './resources.js'
import { subscribe, unsubscribe } from './subscriptions.js'
import { callTool, listTools } from './tools.js'

/** Every operation has its handler: one that is missing does not compile. */
export const OPERATIONS: Readonly<Record<Operation, OperationHandler>> = {
  initialize,
  discover,
  ping,
  'set-log-level': setLogLevel,
  'list-tools': listTools,
  'call-tool': callTool,
  'list-prompts': listPrompts,
  'get-prompt': getPrompt,
  'list-resources': listResources,
  'list-resource-templates': listResourceTemplates,
  'read-resource': readResource,
  complete,
  subscribe,
  unsubscribe,
  listen,
  extension: serveExtension,
}
