import type { Method } from '../codec.js'

/** The methods of 2026-07-28. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['server/discover', { operation: 'discover', cacheable: true }],
  ['tools/list', { operation: 'list-tools', cacheable: true }],
  ['tools/call', { operation: 'call-tool', mirrors: 'name' }],
  ['prompts/list', { operation: 'list-prompts', cacheable: true }],
  ['prompts/get', { operation: 'get-prompt', mirrors: 'name' }],
  ['resources/list', { operation: 'list-resources', cacheable: true }],
  ['resources/templates/list', { operation: 'list-resource-templates', cacheable: true }],
  ['resources/read', { operation: 'read-resource', cacheable: true, mirrors: 'uri' }],
  ['subscriptions/listen', { operation: 'listen', open: true }],
  ['completion/complete', { operation: 'complete' }],
])
