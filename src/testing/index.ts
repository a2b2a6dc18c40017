export type { ProtocolVersion } from '../protocol/versions.js'
export type { AnswerOptions, ElicitAnswer } from './answers.js'
export {
  type CallToolResult,
  type ClientOptions,
  type CompleteResult,
  type GetPromptResult,
  type ListResult,
  type ReadResourceResult,
  type RequestOptions,
  RpcError,
  TestClient,
} from './client.js'
export { type ConnectOptions, connect } from './connect.js'
export type { MatcherContext, MatcherVerdict } from './matcher.js'
export type { ExpectedMedia, ExpectedResource, ExpectedText } from './matcher-content.js'
export type { ExpectedElicitation, ExpectedRpcError } from './matcher-errors.js'
export type { ExpectedLog, ExpectedProgress } from './matcher-heard.js'
export type { ExpectedRole } from './matcher-reads.js'
export { type MatcherFunctions, type McpMatchers, matchers } from './matchers.js'
export type { Members } from './members.js'
export { type MemoryWireOptions, memoryWire, type Wire, type WireMessage } from './wire.js'
