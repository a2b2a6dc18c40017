import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { entries, runNode } from './_package.js'

// Every name that the package exports, pinned: a name that comes or goes is a decision, taken here.
// After one: npm run test:package -- -u, and read the difference.

let program: ts.Program

beforeAll(() => {
  const files = [...entries.values()].map((file) => `${file}.d.ts`)
  program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
    types: ['node'],
  })
})

describe('exported names', () => {
  it('phantom-mcp', () => {
    expect(declared('phantom-mcp')).toMatchInlineSnapshot(`
      [
        "BodyTooLarge",
        "ContinuationMoved",
        "Elicit",
        "Extension",
        "McpError",
        "Prompt",
        "Resource",
        "Roots",
        "Sample",
        "Tool",
        "createRouter",
        "createServer",
        "defineFor",
        "field",
        "forbidden",
        "httpEndpoint",
        "memoryBackplane",
        "notFound",
        "rateLimit",
        "reject",
        "type Annotations",
        "type Answer",
        "type Answers",
        "type AppendOptions",
        "type ArrayOptions",
        "type AskOptions",
        "type Asked",
        "type Asking",
        "type Asks",
        "type AudioContent",
        "type Awaitable",
        "type Backplane",
        "type Binary",
        "type BooleanOptions",
        "type CacheOptions",
        "type Cached",
        "type CallFacts",
        "type CallRef",
        "type CallerEvent",
        "type Challenge",
        "type ClientCapabilities",
        "type CommonOptions",
        "type Completer",
        "type CompletionContext",
        "type CompletionReturn",
        "type ConnectOptions",
        "type ConnectRequest",
        "type Connecting",
        "type ContentBlock",
        "type ContentOptions",
        "type ContinuationOptions",
        "type CorsOptions",
        "type CreateMessageParams",
        "type CreateMessageResult",
        "type DeclaredReturn",
        "type Deferred",
        "type Definition",
        "type DefinitionBuilders",
        "type DispatchEvent",
        "type ElicitBuilders",
        "type ElicitOptions",
        "type ElicitationRequired",
        "type EmbeddedResource",
        "type ErrorCode",
        "type ExceptionEvent",
        "type ExtensionBuilders",
        "type ExtensionHost",
        "type ExtensionListen",
        "type ExtensionMethod",
        "type ExtensionMethodOptions",
        "type ExtensionOutcome",
        "type ExtensionResources",
        "type ExtensionRows",
        "type ExtensionToolOption",
        "type ExtensionToolOptions",
        "type Failure",
        "type Field",
        "type FieldBuilders",
        "type Fields",
        "type Form",
        "type FormContent",
        "type FreeReturn",
        "type Given",
        "type Hosts",
        "type HttpBody",
        "type HttpCall",
        "type HttpEndpoint",
        "type HttpHeaders",
        "type HttpOptions",
        "type HttpStream",
        "type Icon",
        "type ImageContent",
        "type Implementation",
        "type InferFields",
        "type InputRequired",
        "type InputRequiredOptions",
        "type IntegerOptions",
        "type Json",
        "type JsonSchema",
        "type Lease",
        "type LegalReturn",
        "type LinkAttributes",
        "type LinkTarget",
        "type ListenNotification",
        "type LogEntry",
        "type LogLevel",
        "type LogPart",
        "type LoggedEvent",
        "type LoggedEventName",
        "type Logger",
        "type MapOptions",
        "type McpErrorOptions",
        "type MemoryBackplaneOptions",
        "type Merged",
        "type Middleware",
        "type ModelPreferences",
        "type NumberOptions",
        "type Origins",
        "type Outcome",
        "type OutcomeAnswer",
        "type OutcomeCall",
        "type Page",
        "type ProgressRef",
        "type ProgressToken",
        "type PromptArgument",
        "type PromptArgumentSpec",
        "type PromptArguments",
        "type PromptBuilders",
        "type PromptDefinition",
        "type PromptHandler",
        "type PromptMessage",
        "type PromptOptions",
        "type PromptParams",
        "type PromptResult",
        "type PromptSpec",
        "type ProtectedResourceOptions",
        "type ProtocolVersion",
        "type PubSub",
        "type Question",
        "type Rate",
        "type RateLimitOptions",
        "type RawPromptResult",
        "type Received",
        "type Refusal",
        "type RequestEvent",
        "type RequestId",
        "type ResourceBuilders",
        "type ResourceContentOptions",
        "type ResourceContents",
        "type ResourceDefinition",
        "type ResourceHandler",
        "type ResourceLink",
        "type ResourceList",
        "type ResourceOptions",
        "type ResourceResult",
        "type ResourceReturn",
        "type ResourceSpec",
        "type ResourceTarget",
        "type ResourceTemplateSpec",
        "type ResumeOptions",
        "type Root",
        "type RootsBuilders",
        "type Router",
        "type RouterOptions",
        "type SampleBuilders",
        "type SampledContent",
        "type SamplingContent",
        "type SamplingMessage",
        "type SchemaPromptOptions",
        "type SecretKeyBase",
        "type Server",
        "type ServerOptions",
        "type Session",
        "type SessionHandle",
        "type SessionLog",
        "type SetOptions",
        "type Shape",
        "type Sse2024Options",
        "type Step",
        "type StepHandler",
        "type StepOptions",
        "type StepReference",
        "type Store",
        "type StoredValue",
        "type StreamOpened",
        "type StringOptions",
        "type SubscribedResource",
        "type TerminateEvent",
        "type TextContent",
        "type ToolBuilders",
        "type ToolContentOptions",
        "type ToolDefinition",
        "type ToolLimits",
        "type ToolOptions",
        "type ToolOutcome",
        "type ToolParams",
        "type ToolResult",
        "type ToolResultContent",
        "type ToolSpec",
        "type ToolUseContent",
        "type TopicListener",
        "type TraceContext",
        "type TrackedCall",
        "type TrackedListener",
        "type TrackedSession",
        "type TrackedStream",
        "type Tracker",
        "type Unsubscribe",
        "type UriParams",
        "type UrlQuestion",
        "unauthorized",
        "withCache",
      ]
    `)
  })

  it('phantom-mcp/node', () => {
    expect(declared('phantom-mcp/node')).toMatchInlineSnapshot(`
      [
        "NodeCall",
        "nodeHandler",
        "serve",
        "type NodeHandler",
        "type ServeOptions",
        "type Serving",
      ]
    `)
  })

  it('phantom-mcp/fetch', () => {
    expect(declared('phantom-mcp/fetch')).toMatchInlineSnapshot(`
      [
        "FetchCall",
        "fetchHandler",
        "type FetchHandler",
      ]
    `)
  })

  it('phantom-mcp/stdio', () => {
    expect(declared('phantom-mcp/stdio')).toMatchInlineSnapshot(`
      [
        "serveStdio",
        "type StdioOptions",
      ]
    `)
  })

  it('phantom-mcp/testing', () => {
    expect(declared('phantom-mcp/testing')).toMatchInlineSnapshot(`
      [
        "RpcError",
        "TestClient",
        "connect",
        "matchers",
        "memoryWire",
        "type AnswerOptions",
        "type CallToolResult",
        "type ClientOptions",
        "type CompleteResult",
        "type ConnectOptions",
        "type ElicitAnswer",
        "type ExpectedElicitation",
        "type ExpectedLog",
        "type ExpectedMedia",
        "type ExpectedProgress",
        "type ExpectedResource",
        "type ExpectedRole",
        "type ExpectedRpcError",
        "type ExpectedText",
        "type GetPromptResult",
        "type ListResult",
        "type MatcherContext",
        "type MatcherFunctions",
        "type MatcherVerdict",
        "type McpMatchers",
        "type Members",
        "type MemoryWireOptions",
        "type ProtocolVersion",
        "type ReadResourceResult",
        "type RequestOptions",
        "type Wire",
        "type WireMessage",
      ]
    `)
  })

  it('phantom-mcp/testing/vitest', () => {
    expect(declared('phantom-mcp/testing/vitest')).toMatchInlineSnapshot(`
      [
        "matchers",
        "type McpMatchers",
      ]
    `)
  })

  it('phantom-mcp/redis', () => {
    expect(declared('phantom-mcp/redis')).toMatchInlineSnapshot(`
      [
        "redisBackplane",
        "type RedisBackplaneOptions",
      ]
    `)
  })

  it('phantom-mcp/nats', () => {
    expect(declared('phantom-mcp/nats')).toMatchInlineSnapshot(`
      [
        "natsBackplane",
        "type NatsBackplaneOptions",
      ]
    `)
  })

  it('phantom-mcp/skills', () => {
    expect(declared('phantom-mcp/skills')).toMatchInlineSnapshot(`
      [
        "Skill",
        "skills",
        "type Frontmatter",
        "type SkillBuilders",
        "type SkillContent",
        "type SkillFile",
        "type SkillHandler",
        "type SkillList",
        "type SkillMemory",
        "type SkillOptions",
        "type SkillParams",
        "type SkillSource",
        "type Skills",
        "type SkillsOptions",
      ]
    `)
  })

  it('phantom-mcp/skills/node', () => {
    expect(declared('phantom-mcp/skills/node')).toMatchInlineSnapshot(`
      [
        "fromDirectory",
        "type DirectoryOptions",
      ]
    `)
  })

  it('phantom-mcp/tasks', () => {
    expect(declared('phantom-mcp/tasks')).toMatchInlineSnapshot(`
      [
        "Task",
        "tasks",
        "type RunningTask",
        "type StoredTaskOptions",
        "type StoredTasks",
        "type TaskBuilders",
        "type TaskCallbacks",
        "type TaskChange",
        "type TaskFailure",
        "type TaskInputRequest",
        "type TaskOptions",
        "type TaskServer",
        "type TaskStatus",
        "type TaskWork",
        "type Tasks",
        "type WireRequest",
      ]
    `)
  })

  it('are pinned for every entry of package.json', () => {
    expect([...entries.keys()]).toEqual([
      'phantom-mcp',
      'phantom-mcp/node',
      'phantom-mcp/fetch',
      'phantom-mcp/stdio',
      'phantom-mcp/skills',
      'phantom-mcp/skills/node',
      'phantom-mcp/tasks',
      'phantom-mcp/testing',
      'phantom-mcp/testing/vitest',
      'phantom-mcp/redis',
      'phantom-mcp/nats',
    ])
  })
})

describe('declarations and code agree', () => {
  it.each([...entries.keys()])('%s', (entry) => {
    const values = declared(entry).filter((name) => !name.startsWith('type '))
    const keys = runNode(`console.log(JSON.stringify(Object.keys(await import('${entry}'))))`)
    expect(values.sort()).toEqual(JSON.parse(keys).sort())
  })
})

describe('the package imports quietly', () => {
  it.each([...entries.keys()])('%s', (entry) => {
    expect(runNode(`await import('${entry}')`)).toBe('')
  })
})

/** Names in the declarations of an entry; those that exist only for the compiler begin with `type `. */
function declared(entry: string): string[] {
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(`${entries.get(entry)}.d.ts`)
  const module = source && checker.getSymbolAtLocation(source)
  if (!module) return []
  const names = checker.getExportsOfModule(module).map((symbol) => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const isValue = (target.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(symbol)
    return isValue ? symbol.name : `type ${symbol.name}`
  })
  return names.sort()
}

function isTypeOnly(symbol: ts.Symbol): boolean {
  return (
    symbol.declarations?.some((node) => ts.isExportSpecifier(node) && ts.isTypeOnlyImportOrExportDeclaration(node)) ??
    false
  )
}
