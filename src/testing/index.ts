export type { ProtocolVersion } from '../protocol/versions.js'
export type { AnswerOptions, ElicitAnswer } from './answers.js'
export {
  type CallToolResult,
  type ClientOptions,
  type CompleteResult,
  type GetPromptResult,
  type ListResult,
  type Members,
  type ReadResourceResult,
  type RequestOptions,
  RpcError,
  TestClient,
} from './client.js'
export { connect } from './connect.js'
export { memoryWire, type Wire, type WireMessage } from './wire.js'
