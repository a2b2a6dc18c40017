export type { Awaitable } from './awaitable.js'
export type { Backplane } from './backplane/backplane.js'
export { type MemoryBackplaneOptions, memoryBackplane } from './backplane/memory.js'
export type { PubSub, TopicListener, Unsubscribe } from './backplane/pub-sub.js'
export type { AppendOptions, Lease, LogEntry, LogPart, SetOptions, Store, StoredValue } from './backplane/store.js'
export { type ErrorCode, type Failure, McpError, type McpErrorOptions } from './errors.js'
export { type HttpEndpoint, httpEndpoint } from './http/endpoint.js'
export { BodyTooLarge, type HttpBody, type HttpCall, type HttpHeaders, type HttpStream } from './http/http-call.js'
export type { CorsOptions, Hosts, HttpOptions, Origins } from './http/options.js'
export type { ProtectedResourceOptions } from './http/protected-resource.js'
export type { Sse2024Options } from './http/sse-2024-options.js'
export type { RequestId } from './protocol/jsonrpc.js'
export type {
  Annotations,
  AudioContent,
  ClientCapabilities,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  Implementation,
  Json,
  LogLevel,
  ProgressToken,
  PromptArgumentSpec,
  PromptMessage,
  PromptSpec,
  ResourceContents,
  ResourceLink,
  ResourceSpec,
  ResourceTemplateSpec,
  TextContent,
  ToolSpec,
  TraceContext,
} from './protocol/model.js'
export type {
  CreateMessageParams,
  CreateMessageResult,
  ModelPreferences,
  Root,
  SampledContent,
  SamplingContent,
  SamplingMessage,
  ToolResultContent,
  ToolUseContent,
} from './protocol/sampling.js'
export type { ProtocolVersion } from './protocol/versions.js'
export type { Answers, Asked, Asking, AskOptions, ElicitOptions, StepReference } from './router/asked.js'
export { type Cached, type CacheOptions, withCache } from './router/cache.js'
export type { Completer, CompletionContext, CompletionReturn } from './router/completion.js'
export type { Binary, ContentOptions, LinkAttributes, LinkTarget } from './router/content.js'
export type { CallRef, Deferred, ProgressRef } from './router/deferred.js'
export { type DefinitionBuilders, defineFor } from './router/define.js'
export type { Definition } from './router/definition.js'
export { Elicit, type ElicitBuilders, type Form, type FormContent, type UrlQuestion } from './router/elicit.js'
export type { ToolOutcome } from './router/extension-outcome.js'
export type {
  ExtensionListen,
  ExtensionMethod,
  ExtensionOutcome,
  ExtensionResources,
  ExtensionRows,
  ExtensionToolOption,
  ListenNotification,
  OutcomeAnswer,
  OutcomeCall,
} from './router/extension-rows.js'
export { field } from './router/field.js'
export type {
  ArrayOptions,
  BooleanOptions,
  CommonOptions,
  FieldBuilders,
  IntegerOptions,
  MapOptions,
  NumberOptions,
  StringOptions,
} from './router/field-types.js'
export type { Asks, ElicitationRequired, InputRequired, InputRequiredOptions } from './router/input-required.js'
export type { Middleware, Outcome } from './router/middleware.js'
export type { Page } from './router/page.js'
export type {
  PromptArgument,
  PromptArguments,
  PromptDefinition,
  PromptHandler,
  PromptOptions,
  PromptParams,
  SchemaPromptOptions,
} from './router/prompt.js'
export { Prompt, type PromptBuilders, type PromptResult, type RawPromptResult } from './router/prompt-result.js'
export type { Answer, Question } from './router/question.js'
export { type Challenge, forbidden, notFound, type Refusal, reject, unauthorized } from './router/refusal.js'
export type { ResourceDefinition, ResourceHandler, ResourceOptions } from './router/resource.js'
export {
  Resource,
  type ResourceBuilders,
  type ResourceContentOptions,
  type ResourceList,
  type ResourceResult,
  type ResourceReturn,
} from './router/resource-result.js'
export { Roots, type RootsBuilders } from './router/roots.js'
export { createRouter, type ResourceTarget, type Router } from './router/router.js'
export type { ConnectOptions, RouterOptions } from './router/router-options.js'
export { Sample, type SampleBuilders } from './router/sample.js'
export type { Field, Fields, Given, InferFields, JsonSchema, Received, Shape } from './router/schema.js'
export type { CallFacts, Connecting, ConnectRequest, Merged, Session, SessionLog } from './router/session.js'
export type { Step, StepHandler, StepOptions } from './router/step.js'
export type { SubscribedResource } from './router/subscribed-resource.js'
export type {
  DeclaredReturn,
  ExtensionToolOptions,
  FreeReturn,
  LegalReturn,
  ToolDefinition,
  ToolOptions,
  ToolParams,
} from './router/tool.js'
export type { ToolLimits } from './router/tool-limits.js'
export { Tool, type ToolBuilders, type ToolContentOptions, type ToolResult } from './router/tool-result.js'
export type { UriParams } from './router/uri-template.js'
export type { SecretKeyBase } from './secret-key-base.js'
export { ContinuationMoved } from './server/asking/chain.js'
export type { ContinuationOptions } from './server/asking/continuation-options.js'
export {
  Extension,
  type ExtensionBuilders,
  type ExtensionHost,
  type ExtensionMethodOptions,
} from './server/extension.js'
export type { LoggedEvent, LoggedEventName, Logger } from './server/operator-log.js'
export { type Rate, type RateLimitOptions, rateLimit } from './server/rate-limit.js'
export { createServer, type Server } from './server/server.js'
export type { ServerOptions } from './server/server-options.js'
export type { SessionHandle } from './server/session-handles.js'
export type { ResumeOptions } from './server/stream-log.js'
export type {
  CallerEvent,
  DispatchEvent,
  ExceptionEvent,
  RequestEvent,
  StreamOpened,
  TerminateEvent,
} from './server/telemetry.js'
export type { TrackedCall, TrackedListener, TrackedSession, TrackedStream, Tracker } from './server/tracker.js'
