import { type Failure, McpError } from '../errors.js'

/** What calls get that come, or are still running, when the server goes. */
export const SHUTTING_DOWN: Failure = {
  code: 'INTERNAL_ERROR',
  message: 'The server is shutting down: try again',
  data: { reason: 'shutting_down', retryable: true },
}

export const shuttingDown = (): McpError => new McpError(SHUTTING_DOWN.code, SHUTTING_DOWN.message, SHUTTING_DOWN)
