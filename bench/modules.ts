import type { Server } from 'node:http'
import type { Clock } from './servers/mcp-sessions.js'
import type { Pair } from './timing.js'

/** Servers by name: each module makes one, which the child that runs it lets listen. */
export const SERVERS = {
  'bare-echo': async (): Promise<Server> => (await import('./servers/bare-echo.js')).makeServer(),
  'bare-stored': async (): Promise<Server> => await (await import('./servers/bare-stored.js')).makeServer(),
  'bare-sessions': async (): Promise<Server> => (await import('./servers/bare-sessions.js')).makeServer(),
  'mcp-sessions': async (clock: Clock): Promise<Server> =>
    (await import('./servers/mcp-sessions.js')).makeServer(clock),
  'mcp-asking': async (): Promise<Server> => (await import('./servers/mcp-asking.js')).makeServer(),
  'mcp-call': async (): Promise<Server> => (await import('./servers/mcp-call.js')).makeServer(),
  'mcp-node': async (_clock: Clock, engine: string | undefined): Promise<Server> =>
    await (await import('./servers/mcp-node.js')).makeServer(engine),
  'mcp-list': async (): Promise<Server> => (await import('./servers/mcp-list.js')).makeServer(),
} as const

/** Work inside one process, by name. */
export const PROCESSES = {
  register: async (): Promise<Pair> => await (await import('./in-process/register.js')).makePair(),
  check: async (): Promise<Pair> => (await import('./in-process/check.js')).makePair(),
  checkDefaults: async (): Promise<Pair> => (await import('./in-process/check.js')).makePair({ strict: false }),
} as const

export type ServerName = keyof typeof SERVERS
export type ProcessName = keyof typeof PROCESSES
