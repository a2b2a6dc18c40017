import type {} from 'vitest'
import type { McpMatchers } from '../matchers.js'

export { type McpMatchers, matchers } from '../matchers.js'

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers {}
}
