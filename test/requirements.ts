import type { Requirement } from './requirement.js'
import { askingRequirements } from './requirements-asking.js'
import { extensionRequirements } from './requirements-extensions.js'
import { featureRequirements } from './requirements-features.js'

const SESSION = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const STATELESS = ['2026-07-28']
const HTTP = ['node', 'fetch']

export const requirements: readonly Requirement[] = [
  // Messages
  {
    id: 'rpc.utf-8',
    source: '26/basic/transports, UTF-8',
    behaviour: 'Messages are UTF-8, code point for code point.',
  },
  {
    id: 'rpc.parse-error',
    source: 'JSON-RPC 2.0 5.1; decisions: parse error',
    behaviour: 'Text that is not JSON is -32700, over HTTP with 400.',
  },
  {
    id: 'rpc.not-a-request',
    source: 'JSON-RPC 2.0 5.1; decisions: not a request',
    behaviour: 'JSON that is no message is -32600.',
  },
  {
    id: 'rpc.params',
    source: '26/basic, Requests; decisions: bad tool arguments',
    behaviour: 'Parameters that are no object are -32602.',
  },
  {
    id: 'rpc.unknown-method',
    source: '26/basic/transports/streamable-http, Errors',
    behaviour: 'An unknown method is -32601, over HTTP with 404 in 2026-07-28.',
  },
  {
    id: 'rpc.unknown-members',
    source: 'schema of each version: open objects',
    behaviour: 'Members that nobody knows are ignored, params.task too.',
  },
  {
    id: 'rpc.notifications',
    source: 'decisions: unknown notifications',
    behaviour: 'A notification is accepted with 202; an unknown one is ignored.',
  },
  {
    id: 'rpc.no-answer',
    source: '26/basic, Notifications',
    behaviour: 'A message without an id is never answered, and runs no request.',
  },
  {
    id: 'rpc.response',
    source: '26/basic, Responses; decisions: posted response',
    behaviour: 'A response that answers nothing is 202, over HTTP in 2026-07-28 400 with -32600.',
  },
  {
    id: 'rpc.interleaved',
    source: '26/basic, Statelessness',
    behaviour: 'Requests are served at the same time; answers come as they are ready.',
  },
  {
    id: 'ids.echo',
    source: '26/basic, Responses',
    behaviour: 'An answer has the id of its request, in value and type.',
  },
  {
    id: 'ids.refused',
    source: '26/basic, Requests',
    behaviour: 'An id that is neither text nor integer is -32600, over HTTP with 400.',
  },
  {
    id: 'ids.in-flight',
    source: 'decisions: same id in flight',
    behaviour: 'An id in use is -32600 in a session and on a pipe, and allowed over HTTP in 2026-07-28.',
  },
  { id: 'ids.reuse', source: '26/basic, Requests', behaviour: 'An id that has its answer can be used again.' },
  {
    id: 'hostile.names',
    source: 'docs/errors.md',
    behaviour: '__proto__, constructor, toString as keys or names are harmless.',
  },

  // Errors
  { id: 'errors.form', source: '26/basic, Errors', behaviour: 'An error has an integer code and a message.' },
  {
    id: 'errors.unread-id',
    source: 'decisions: error id that could not be read',
    behaviour: 'The id of an error that names no request is null in sessions, and left out in 2026-07-28.',
  },
  {
    id: 'errors.masked',
    source: 'docs/errors.md',
    behaviour: 'What is thrown is -32603 Internal error for the client, and told once to onError.',
  },
  {
    id: 'errors.mcp-error',
    source: 'docs/tools.md',
    behaviour: 'An McpError reaches the client with code, message and data; its cause does not.',
  },
  {
    id: 'errors.foreign',
    source: 'docs/errors.md',
    behaviour: 'An error that only looks like an McpError is masked.',
  },
  {
    id: 'errors.unserialisable',
    source: 'docs/errors.md',
    behaviour: 'What JSON cannot hold costs its own call only.',
  },
  {
    id: 'errors.legacy-numbers',
    source: '25/basic; protocol.md 2.17',
    behaviour: 'Sessions never see the codes that mark a 2026-07-28 server.',
    versions: SESSION,
  },
  {
    id: 'errors.modern-numbers',
    source: '26/basic, Error Codes',
    behaviour: '-32002 is sent up to 2025-11-25, and never in 2026-07-28.',
  },

  // Versions
  {
    id: 'lifecycle.echo',
    source: '25/basic/lifecycle, Version Negotiation',
    behaviour: 'initialize agrees to a version that is served.',
    versions: SESSION,
  },
  {
    id: 'lifecycle.unknown-version',
    source: '25/basic/lifecycle; decisions: initialize naming an unknown or modern version',
    behaviour: 'Any other version is answered with 2025-11-25.',
    versions: SESSION,
  },
  {
    id: 'lifecycle.twice',
    source: '25/basic/lifecycle',
    behaviour: 'A second initialize in a session is -32600.',
    versions: SESSION,
  },
  {
    id: 'lifecycle.bad-initialize',
    source: '25/basic/lifecycle',
    behaviour: 'initialize with parameters of the wrong kind is -32602, and begins nothing.',
    versions: SESSION,
  },
  {
    id: 'lifecycle.ping',
    source: '25/basic/utilities/ping',
    behaviour: 'ping is answered with an empty object.',
    versions: SESSION,
  },
  {
    id: 'era.methods',
    source: 'decisions: initialize, ping, … with modern _meta',
    behaviour: 'A method of the other era does not exist.',
  },
  {
    id: 'era.together',
    source: '26/basic/versioning, Dual-Era Servers',
    behaviour: 'Clients of both eras are served at once.',
  },
  {
    id: 'discover.result',
    source: '26/server/discover',
    behaviour: 'server/discover names versions, capabilities and instructions.',
    versions: STATELESS,
  },
  {
    id: 'discover.declared',
    source: '26/server/discover; checklist 93',
    behaviour: 'What is there is declared, and nothing else.',
  },
  {
    id: 'discover.undeclared',
    source: '26/server/discover; protocol.md 2.14',
    behaviour: 'What is not declared is -32601.',
  },
  {
    id: 'envelope.version',
    source: '26/basic/versioning',
    behaviour: 'A version that is missing is -32602, one that is not served -32022 with supported and requested.',
    versions: STATELESS,
  },
  {
    id: 'envelope.capabilities',
    source: '26/basic, _meta',
    behaviour: 'Missing client capabilities are -32602, over HTTP with 400.',
    versions: STATELESS,
  },
  {
    id: 'envelope.client-info',
    source: '26/basic, _meta',
    behaviour: 'The client need not say its name.',
    versions: STATELESS,
  },
  {
    id: 'envelope.alone',
    source: '26/basic, Statelessness',
    behaviour: 'Nothing is known from an earlier request.',
    versions: STATELESS,
  },
  {
    id: 'result.type',
    source: '26/basic, Results',
    behaviour: 'Every result has its resultType in 2026-07-28, and none before.',
  },
  { id: 'result.server-info', source: '26/basic, _meta', behaviour: 'Every result names the server in _meta.' },
  {
    id: 'session.facts',
    source: 'docs/tools.md',
    behaviour: 'A handler knows version, client, capabilities, call and session id.',
  },
  {
    id: 'session.notify',
    source: 'docs/subscriptions.md',
    behaviour: 'A handler sends notifications of its own on the stream of its call.',
  },
  {
    id: 'session.read-resource',
    source: 'docs/tools.md',
    behaviour: 'A handler reads and links the resources of its router.',
  },
  {
    id: 'trace.context',
    source: '26/basic, _meta (W3C Trace Context)',
    behaviour: 'traceparent, tracestate and baggage reach the handler.',
  },

  // What a version lacks
  {
    id: 'gates.implementation',
    source: 'protocol.md 1; schema.ts Implementation',
    behaviour: 'title from 2025-06-18; description, websiteUrl, icons from 2025-11-25.',
  },
  {
    id: 'gates.completions',
    source: 'protocol.md 1; schema.ts ServerCapabilities',
    behaviour: 'The capability completions from 2025-03-26.',
  },
  {
    id: 'gates.tool',
    source: 'protocol.md 1; schema.ts Tool',
    behaviour: 'Members of tools that a version lacks are left out.',
  },
  {
    id: 'gates.prompt',
    source: 'protocol.md 1; schema.ts Prompt',
    behaviour: 'Members of prompts that a version lacks are left out.',
  },
  {
    id: 'gates.resource',
    source: 'protocol.md 1; schema.ts Resource',
    behaviour: 'Members of resources that a version lacks are left out.',
  },
  {
    id: 'gates.content',
    source: 'protocol.md 1; schema.ts ContentBlock',
    behaviour: 'Members of content that a version lacks are left out.',
  },
  {
    id: 'gates.audio',
    source: 'protocol.md 1; architecture.md, decision 3',
    behaviour: 'Sound is content from 2025-03-26, words before.',
  },
  {
    id: 'gates.resource-link',
    source: 'protocol.md 1; architecture.md, decision 3',
    behaviour: 'A link is content from 2025-06-18, its URI as text before.',
  },
  { id: 'gates.progress-message', source: 'protocol.md 1', behaviour: 'The message of progress from 2025-03-26.' },

  // Lists
  { id: 'lists.current', source: '26/server/tools, Listing', behaviour: 'A list shows what is there now.' },
  { id: 'tools.order', source: '26/server/tools, Listing', behaviour: 'The order of tools is always the same.' },
  {
    id: 'pages.walk',
    source: '26/server/utilities/pagination',
    behaviour: 'Pages follow each other by nextCursor, each entry once.',
  },
  { id: 'pages.stable', source: '26/server/utilities/pagination', behaviour: 'A cursor survives additions.' },

  // Tools
  { id: 'tools.list', source: '26/server/tools', behaviour: 'Tools are listed with name, schemas and hints.' },
  { id: 'tools.call', source: '26/server/tools', behaviour: 'A call runs the handler with its arguments.' },
  { id: 'tools.names', source: '26/server/tools, Names', behaviour: 'Names that are not ASCII work.' },
  {
    id: 'tools.unknown',
    source: '26/server/tools, Error Handling; decisions: unknown tool',
    behaviour: 'An unknown tool is -32602, in band.',
  },
  {
    id: 'tools.argument-failure',
    source: 'SEP-1303; decisions: bad tool arguments',
    behaviour: 'Bad arguments are an isError result from 2025-11-25 on, -32602 with data.validation_errors before.',
  },
  {
    id: 'tools.results',
    source: 'docs/tools.md',
    behaviour: 'Text, nothing and values become what the version knows.',
  },
  {
    id: 'tools.builders',
    source: 'docs/tools.md; 26/server/tools, Tool Result',
    behaviour: 'The builders make every kind of content.',
  },
  {
    id: 'tools.output',
    source: '26/server/tools, Output Schema',
    behaviour: 'Structured results conform, or the call is an isError result and reported.',
  },
  {
    id: 'schema.whole',
    source: '26/basic, JSON Schema Usage',
    behaviour: 'A plain JSON Schema 2020-12 is sent as given and enforced whole.',
  },
  {
    id: 'schema.version',
    source: 'schema.json of each version',
    behaviour: 'All that is sent fits the schema of the version that it is sent in.',
  },
  {
    id: 'schema.standard',
    source: 'docs/tools.md',
    behaviour: 'Of a Standard Schema the input side is advertised, and the parsed value handed over.',
  },

  // Prompts, resources, completion
  { id: 'prompts.list', source: '26/server/prompts', behaviour: 'Prompts are listed with their arguments.' },
  { id: 'prompts.get', source: '26/server/prompts', behaviour: 'A prompt is run with its arguments.' },
  {
    id: 'prompts.bad-arguments',
    source: '26/server/prompts, Error Handling',
    behaviour: 'Unknown names and missing or malformed arguments are -32602.',
  },
  {
    id: 'prompts.results',
    source: 'docs/prompts-and-resources.md; 26/server/prompts',
    behaviour: 'Text, builders and raw messages are taken.',
  },
  { id: 'resources.list', source: '26/server/resources', behaviour: 'Resources and templates are listed.' },
  {
    id: 'resources.fixed-listed',
    source: 'decisions: resources/list without callback',
    behaviour: 'Fixed resources are listed by themselves.',
  },
  {
    id: 'resources.empty',
    source: 'decisions: resources/list without callback',
    behaviour: 'Where there are none the list is empty.',
  },
  {
    id: 'resources.callback',
    source: 'docs/prompts-and-resources.md',
    behaviour: 'listResources owns the list and its cursor.',
  },
  { id: 'resources.read', source: '26/server/resources', behaviour: 'Text, bytes and several parts are read.' },
  {
    id: 'resources.not-found',
    source: '26/server/resources, Error Handling; SEP-2164',
    behaviour: 'A missing resource is -32602 with data.uri, -32002 up to 2025-11-25.',
  },
  {
    id: 'resources.templates',
    source: 'RFC 6570; docs/prompts-and-resources.md',
    behaviour: 'The most specific pattern gets its variables, decoded once.',
  },
  {
    id: 'completion.references',
    source: '26/server/utilities/completion',
    behaviour: 'References are prompt names and resource templates; others are -32602.',
  },
  {
    id: 'completion.unsupported',
    source: '26/server/utilities/completion, Error Handling',
    behaviour: 'Where nothing completes it is -32601.',
  },
  {
    id: 'cache.always',
    source: '26/server/utilities/caching',
    behaviour: 'Every cacheable result has ttlMs and cacheScope.',
  },
  {
    id: 'cache.hints',
    source: '26/server/utilities/caching; docs/prompts-and-resources.md',
    behaviour: 'withCache says how long; sessions do not see it.',
  },
  {
    id: 'cache.values',
    source: '26/server/utilities/caching',
    behaviour: 'A ttlMs below 0 or an unknown scope is a TypeError.',
  },

  // While a call runs
  {
    id: 'progress.before-answer',
    source: '26/basic/patterns/progress',
    behaviour: 'Progress comes before the answer, under its own token.',
  },
  { id: 'progress.increases', source: '26/basic/patterns/progress', behaviour: 'Progress is a number that grows.' },
  {
    id: 'progress.after-answer',
    source: '26/basic/patterns/progress',
    behaviour: 'Nothing is sent for a call that has its answer.',
  },
  {
    id: 'progress.elsewhere',
    source: '26/basic/patterns/progress',
    behaviour: 'Prompts and resources report progress too.',
  },
  {
    id: 'session.ping',
    source: '25/basic/utilities/ping; decisions: modern ping, finish',
    behaviour:
      'A handler asks its client whether it is there, or keeps the connection alive where requests go one way.',
  },
  {
    id: 'session.notify-lacks',
    source: 'decisions: session.notify of a method the era lacks',
    behaviour: 'A notification that the version lacks is left out, with one warning.',
  },
  {
    id: 'listen.finish',
    source: 'decisions: modern ping, finish',
    behaviour: 'The server ends a listen with its result.',
    versions: STATELESS,
  },
  {
    id: 'progress.ref',
    source: 'docs/later.md',
    behaviour: 'Progress is told from elsewhere, by its name, like from the call itself.',
  },
  {
    id: 'defer.answers',
    source: 'docs/later.md',
    behaviour: 'A deferred call is answered from elsewhere, with what its handler could have returned.',
  },
  { id: 'defer.checked', source: 'docs/later.md', behaviour: 'A deferred answer passes the checks of one returned.' },
  { id: 'defer.error', source: 'docs/later.md', behaviour: 'A deferred call fails like one that throws.' },
  { id: 'defer.once', source: 'docs/later.md', behaviour: 'Whoever answers knows whether the call got it.' },
  { id: 'defer.time', source: 'docs/later.md', behaviour: 'A deferred call fails when deferMs have passed.' },
  {
    id: 'defer.over',
    source: 'docs/later.md; 26/basic/patterns/cancellation',
    behaviour: 'A deferred call ends with its client, its session and its server.',
  },
  {
    id: 'defer.hang-up',
    source: 'docs/later.md',
    behaviour: 'Who hangs up waits for no deferred answer.',
    versions: STATELESS,
    transports: HTTP,
  },
  {
    id: 'defer.session-end',
    source: 'docs/later.md',
    behaviour: 'A session that ends takes its deferred calls along.',
    versions: SESSION,
    transports: HTTP,
  },
  {
    id: 'defer.elsewhere',
    source: 'docs/later.md',
    behaviour: 'What defers in another place than a handler is an error that says so.',
  },
  { id: 'logging.level', source: '26/server/utilities/logging', behaviour: 'Messages at or above the level are sent.' },
  {
    id: 'logging.own-stream',
    source: '26/server/utilities/logging',
    behaviour: 'Messages come on the stream of their call, before the answer.',
  },
  {
    id: 'logging.unasked',
    source: '26/server/utilities/logging',
    behaviour: 'Without logLevel no message is sent.',
    versions: STATELESS,
  },
  {
    id: 'logging.set-level',
    source: '25/server/utilities/logging',
    behaviour: 'logging/setLevel holds for the session.',
    versions: SESSION,
  },
  {
    id: 'logging.bad-level',
    source: '26/server/utilities/logging, Error Handling',
    behaviour: 'A level that is none is -32602.',
  },
  {
    id: 'cancel.signal',
    source: '26/basic/patterns/cancellation',
    behaviour: 'A cancelled call has its signal aborted, with the reason.',
  },
  {
    id: 'cancel.no-answer',
    source: '26/basic/patterns/cancellation',
    behaviour: 'Nothing more is sent for a cancelled call.',
  },
  {
    id: 'cancel.never-settles',
    source: 'docs/errors.md',
    behaviour: 'A handler that never ends after an abort costs its own call only.',
  },
  { id: 'cancel.throws', source: 'docs/errors.md', behaviour: 'What a cancelled handler throws is no error.' },
  {
    id: 'cancel.others',
    source: '26/basic/patterns/cancellation',
    behaviour: 'A cancellation ends the call that it names, and no other.',
  },

  // Middleware and registration
  {
    id: 'middleware.order',
    source: 'docs/tools.md',
    behaviour: 'Middleware runs around each request, outermost first.',
  },
  { id: 'middleware.refuses', source: 'docs/tools.md', behaviour: 'Middleware refuses by throwing.' },
  {
    id: 'middleware.outcome',
    source: 'docs/tools.md',
    behaviour: 'next() resolves with an outcome, also when the handler throws.',
  },
  { id: 'middleware.next-twice', source: 'style 7, compose', behaviour: 'A request is served once.' },
  {
    id: 'middleware.returns',
    source: 'style 7, compose',
    behaviour: 'A middleware that does not return the outcome is named.',
  },
  {
    id: 'middleware.assigns',
    source: 'docs/tools.md',
    behaviour: 'assign hands values to the handlers of the call.',
  },
  {
    id: 'registration.mistakes',
    source: 'architecture.md, decision 10',
    behaviour: 'Wrong use of the API is a TypeError that names the place, the option and the mend.',
  },
  {
    id: 'registration.atomic',
    source: 'architecture.md, decision 10',
    behaviour: 'A registration that fails changes nothing.',
  },

  // HTTP
  {
    id: 'http.version',
    source: '26/basic/transports/streamable-http, Standard Headers',
    behaviour: 'MCP-Protocol-Version agrees with the body, or 400 with -32020.',
    transports: HTTP,
    versions: STATELESS,
  },
  {
    id: 'http.method',
    source: '26/basic/transports/streamable-http, Standard Headers',
    behaviour: 'Mcp-Method agrees with the body, or 400 with -32020.',
    transports: HTTP,
    versions: STATELESS,
  },
  {
    id: 'http.accept',
    source: 'decisions: wrong Content-Type / Accept',
    behaviour: 'The answer is what the client takes, or 406.',
    transports: HTTP,
  },
  { id: 'http.body-limit', source: 'decisions: size', behaviour: 'A body beyond its limit is 413.', transports: HTTP },
  {
    id: 'http.origin',
    source: '26/basic/transports/streamable-http, Security Warning',
    behaviour: 'A foreign Origin is 403.',
    transports: HTTP,
  },
  { id: 'http.host', source: 'protocol.md 7.1', behaviour: 'A foreign Host is 403.', transports: HTTP },
  {
    id: 'http.sessions',
    source: '25/basic/transports, Session Management',
    behaviour: 'A session id is visible ASCII, and ends with DELETE.',
    transports: HTTP,
    versions: SESSION,
  },
  {
    id: 'http.stateless',
    source: '26/basic/transports/streamable-http; decisions: Mcp-Session-Id',
    behaviour: 'Session ids are ignored, and none is issued.',
    transports: HTTP,
    versions: STATELESS,
  },

  {
    id: 'http.session-version',
    source: '25/basic/transports, Protocol Version Header',
    behaviour: 'In a session a version that is none is 400, and a missing one is borne.',
    transports: HTTP,
    versions: SESSION,
  },
  {
    id: 'http.get-stream',
    source: '25/basic/transports, Listening for Messages; decisions: second stream',
    behaviour: 'A session has one stream by GET; a second one is 409.',
    transports: HTTP,
    versions: SESSION,
  },
  {
    id: 'http.keep-alive',
    source: '26/basic/transports/streamable-http; architecture.md, decision 5',
    behaviour: 'A call that takes longer than streamAfterMs is a stream, which comments keep alive.',
    transports: HTTP,
  },
  {
    id: 'http.json-only',
    source: 'architecture.md, decision 5',
    behaviour: 'A client that takes JSON only never gets a stream.',
    transports: HTTP,
  },
  {
    id: 'http.close',
    source: 'docs/http.md',
    behaviour: 'Closing waits for requests, not for sockets that ask nothing.',
    transports: ['node'],
  },

  // stdio
  {
    id: 'stdio.framing',
    source: '26/basic/transports/stdio',
    behaviour: 'A line is a message; CRLF, BOM and blank lines are borne.',
    transports: ['stdio'],
  },
  {
    id: 'stdio.limit',
    source: 'docs/stdio.md',
    behaviour: 'A line beyond its limit is refused, and the next one served.',
    transports: ['stdio'],
  },
  {
    id: 'stdio.stdout',
    source: '26/basic/transports/stdio',
    behaviour: 'stdout carries messages only.',
    transports: ['stdio'],
  },
  {
    id: 'stdio.end',
    source: '26/basic/transports/stdio, Shutdown',
    behaviour: 'The end of the input ends the process when all is answered.',
    transports: ['stdio'],
  },
  {
    id: 'stdio.pressure',
    source: 'docs/stdio.md',
    behaviour: 'A full pipe holds back who writes.',
    transports: ['stdio'],
  },
  {
    id: 'stdio.broken',
    source: 'docs/stdio.md',
    behaviour: 'A pipe that nobody reads is no error.',
    transports: ['stdio'],
  },

  // Field cases
  { id: 'field.A1', source: 'field case A1', behaviour: 'A character split across reads stays whole.' },
  {
    id: 'field.A3',
    source: 'field case A3',
    behaviour: 'One bad line costs nothing but itself.',
    transports: ['stdio'],
  },
  { id: 'field.B1', source: 'field case B1', behaviour: 'Ids are kept exactly, and bad ids refused.' },
  { id: 'field.B3', source: 'field case B3', behaviour: 'Batches are served in 2025-03-26, and one error elsewhere.' },
  {
    id: 'field.C1',
    source: 'field case C1',
    behaviour: 'The JSON media type is taken in every spelling.',
    transports: HTTP,
  },
  { id: 'field.C3', source: 'field case C3', behaviour: 'Other methods are 405 with Allow.', transports: HTTP },
  {
    id: 'field.D1',
    source: 'field case D1',
    behaviour: 'An unknown session is 404, a missing id 400.',
    transports: HTTP,
    versions: SESSION,
  },
  {
    id: 'field.D4',
    source: 'field case D4',
    behaviour: 'The session of another user does not exist; a fresh token of the same user goes on with it.',
    transports: HTTP,
  },
  { id: 'field.E1', source: 'field case E1', behaviour: 'Mcp-Name is decoded before it is compared.' },
  {
    id: 'field.E3',
    source: 'field case E3',
    behaviour: 'Mcp-Param-* agree with the arguments, or 400 with -32020.',
    versions: STATELESS,
  },
  {
    id: 'field.F1',
    source: 'field case F1',
    behaviour: 'initialize that asks for the newest version begins a session.',
    versions: SESSION,
  },
  { id: 'field.G1', source: 'field case G1', behaviour: 'Arguments may be left out.' },
  { id: 'field.G3', source: 'field case G3', behaviour: 'Recursive and shared schema parts are listed and enforced.' },
  { id: 'field.G5', source: 'field case G5', behaviour: 'Falsy, list and null content is kept.' },
  { id: 'field.H1', source: 'field case H1', behaviour: 'Query variables of a template are optional, in any order.' },
  { id: 'field.I1', source: 'field case I1', behaviour: 'A cursor that was never issued is -32602.' },
  { id: 'field.I3', source: 'field case I3', behaviour: 'A completer sees the context; 100 values at most are sent.' },
  { id: 'field.J1', source: 'field case J1', behaviour: 'Progress tokens 0 and "" count; none means none.' },
  { id: 'field.J3', source: 'field case J3', behaviour: 'Late and senseless cancellations are ignored.' },
  {
    id: 'field.J5',
    source: 'field case J5',
    behaviour: 'Hanging up cancels in 2026-07-28, and not before.',
    transports: HTTP,
  },
  { id: 'field.K1', source: 'field case K1', behaviour: 'Nothing holds the stream of a call back.', transports: HTTP },
  {
    id: 'field.K3',
    source: 'field case K3',
    behaviour: 'A listen stream acknowledges first, and tells what it was asked for.',
  },
  { id: 'field.M1', source: 'field case M1', behaviour: 'Browsers may ask, and read the answers.', transports: HTTP },
  {
    id: 'field.M3',
    source: 'field case M3',
    behaviour: 'A challenge leads to the metadata of its own endpoint, which needs no token.',
    transports: HTTP,
  },
  {
    id: 'field.N1',
    source: 'field case N1',
    behaviour: 'Sessions that were abandoned leave nothing behind; one with an open stream is not ended.',
    transports: HTTP,
  },
  { id: 'field.O1', source: 'field case O1', behaviour: 'The log level is the client’s own, or the request’s.' },
  { id: 'field.P1', source: 'field case P1', behaviour: 'Deep nesting is refused under the request’s id.' },
  { id: 'field.P4', source: 'field case P4', behaviour: 'Results that JSON cannot hold are answered all the same.' },
  ...askingRequirements,
  ...featureRequirements,
  ...extensionRequirements,
]
