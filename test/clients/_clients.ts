import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'

export type Json = Readonly<Record<string, unknown>>

export interface CallOptions {
  readonly onprogress?: (progress: {
    progress: number
    total?: number | undefined
    message?: string | undefined
  }) => void
  readonly signal?: AbortSignal
}

/** What the tests ask of a client, whichever it is. */
export interface AnyClient {
  readonly version: string | undefined
  readonly server: { readonly name: string; readonly version: string } | undefined
  readonly instructions: string | undefined
  readonly capabilities: Json | undefined
  listTools(): Promise<readonly { readonly name: string }[]>
  listPrompts(): Promise<readonly { readonly name: string }[]>
  listResources(): Promise<readonly { readonly uri: string }[]>
  listTemplates(): Promise<readonly { readonly uriTemplate: string }[]>
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Json>
  readResource(uri: string): Promise<readonly Json[]>
  getPrompt(name: string, args: Record<string, string>): Promise<readonly Json[]>
  complete(ref: { prompt: string } | { template: string }, argument: { name: string; value: string }): Promise<string[]>
  ping(): Promise<unknown>
  close(): Promise<void>
}

/** How to reach a server. */
export type Way = { readonly url: string } | { readonly file: string; readonly onStderr?: (text: string) => void }

export const KINDS = ['v2 modern', 'v2 auto', 'v2 legacy', 'v1'] as const
export type Kind = (typeof KINDS)[number]

const INFO = { name: 'official', version: '1.0.0' }

export function connect(kind: Kind, way: Way): Promise<AnyClient> {
  return kind === 'v1' ? connectV1(way) : connectV2(kind, way)
}

const refOf = (ref: { prompt: string } | { template: string }) =>
  'prompt' in ref
    ? ({ type: 'ref/prompt', name: ref.prompt } as const)
    : ({ type: 'ref/resource', uri: ref.template } as const)

async function connectV2(kind: Exclude<Kind, 'v1'>, way: Way): Promise<AnyClient> {
  const mode = kind === 'v2 modern' ? { pin: '2026-07-28' } : kind === 'v2 auto' ? 'auto' : 'legacy'
  const client = new Client(INFO, { versionNegotiation: { mode } })
  if ('url' in way) await client.connect(new StreamableHTTPClientTransport(new URL(way.url)))
  else {
    const transport = new StdioClientTransport({ command: process.execPath, args: [way.file], stderr: 'pipe' })
    transport.stderr?.on('data', (bytes: Buffer) => way.onStderr?.(String(bytes)))
    await client.connect(transport)
  }
  return {
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities() as Json | undefined,
    listTools: async () => (await client.listTools()).tools,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    callTool: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, options)) as Json,
    readResource: async (uri) => (await client.readResource({ uri })).contents as readonly Json[],
    getPrompt: async (name, args) =>
      (await client.getPrompt({ name, arguments: args })).messages as readonly unknown[] as Json[],
    complete: async (ref, argument) => (await client.complete({ ref: refOf(ref), argument })).completion.values,
    ping: () => client.ping(),
    close: () => client.close(),
  }
}

async function connectV1(way: Way): Promise<AnyClient> {
  const client = new ClientV1(INFO)
  // The package is not written for exactOptionalPropertyTypes.
  if ('url' in way) await client.connect(new HttpV1(new URL(way.url)) as TransportV1)
  else {
    const transport = new StdioV1({ command: process.execPath, args: [way.file], stderr: 'pipe' })
    transport.stderr?.on('data', (bytes: Buffer) => way.onStderr?.(String(bytes)))
    await client.connect(transport)
  }
  return {
    version: undefined,
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    capabilities: client.getServerCapabilities() as Json | undefined,
    listTools: async () => (await client.listTools()).tools,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    callTool: async (name, args = {}, options = {}) =>
      (await client.callTool({ name, arguments: args }, undefined, options)) as Json,
    readResource: async (uri) => (await client.readResource({ uri })).contents as readonly Json[],
    getPrompt: async (name, args) =>
      (await client.getPrompt({ name, arguments: args })).messages as readonly unknown[] as Json[],
    complete: async (ref, argument) => (await client.complete({ ref: refOf(ref), argument })).completion.values,
    ping: () => client.ping(),
    close: () => client.close(),
  }
}
