import type { Method } from '../codec.js'

/** The methods of 2024-11-05 to 2025-11-25. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', { operation: 'initialize' }],
  ['ping', { operation: 'ping' }],
  ['logging/setLevel', { operation: 'set-log-level' }],
  ['tools/list', { operation: 'list-tools' }],
  ['tools/call', { operation: 'call-tool' }],
  ['prompts/list', { operation: 'list-prompts' }],
  ['prompts/get', { operation: 'get-prompt' }],
  ['resources/list', { operation: 'list-resources' }],
  ['resources/templates/list', { operation: 'list-resource-templates' }],
  ['resources/read', { operation: 'read-resource' }],
  ['resources/subscribe', { operation: 'subscribe' }],
  ['resources/unsubscribe', { operation: 'unsubscribe' }],
  ['completion/complete', { operation: 'complete' }],
])
