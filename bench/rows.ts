import type { HeapName } from './heap.js'
import type { ProcessName, ServerName } from './modules.js'
import { type LoadRequest, legacyCall, listCall, modernCall, sessionCycle } from './requests.js'

/** A server under load, against a bare one that gets the same requests in the same round. */
export interface LoadRow {
  readonly kind: 'load'
  /** Key of the row's budget in budgets.json. */
  readonly name: string
  readonly server: ServerName
  readonly against: ServerName
  readonly request: LoadRequest
  /** What the ratio compares: answers per second, more is better; or time for an answer, less is better. */
  readonly compare: 'rate' | 'cost'
  /** Measured in every n-th round only, where fewer rounds will do. @default 1 */
  readonly every?: number
  /** Where the backplane of `server` is; `against` has its own in memory. @default in memory too */
  readonly engine?: string
}

/** Two pieces of work in one process, timed in turn. */
export interface ProcessRow {
  readonly kind: 'process'
  readonly name: string
  readonly module: ProcessName
  readonly compare: 'cost'
}

/** What a server keeps in memory for each of many, or for all of them when they are gone. */
export interface HeapRow {
  readonly kind: 'heap'
  readonly name: string
  readonly measure: HeapName
  readonly unit: 'KB' | 'MB'
}

export type Row = LoadRow | ProcessRow | HeapRow

/** A new row is a few lines here, and a module in servers/ or in-process/ when none fits. */
export const ROWS: readonly Row[] = [
  {
    kind: 'load',
    name: 'tools/call, 2026-07-28',
    server: 'mcp-call',
    against: 'bare-echo',
    request: modernCall,
    compare: 'rate',
  },
  {
    kind: 'load',
    name: 'tools/call, 2025-11-25, session',
    server: 'mcp-call',
    against: 'bare-echo',
    request: legacyCall,
    compare: 'rate',
  },
  {
    kind: 'load',
    name: 'initialize, call, delete',
    server: 'mcp-sessions',
    against: 'bare-sessions',
    request: sessionCycle,
    compare: 'rate',
    every: 2,
  },
  {
    kind: 'load',
    name: 'tools/list, 200 tools',
    server: 'mcp-list',
    against: 'bare-stored',
    request: listCall,
    compare: 'cost',
    every: 3,
  },
  { kind: 'process', name: 'register 1,000 tools', module: 'register', compare: 'cost' },
  { kind: 'process', name: 'check a valid call', module: 'check', compare: 'cost' },
  { kind: 'process', name: 'the same, Ajv by default', module: 'checkDefaults', compare: 'cost' },
  { kind: 'heap', name: 'heap, idle session', measure: 'idleSessions', unit: 'KB' },
  { kind: 'heap', name: 'heap, GET stream', measure: 'getStreams', unit: 'KB' },
  { kind: 'heap', name: 'heap, listen stream', measure: 'listenStreams', unit: 'KB' },
  { kind: 'heap', name: 'heap, handler that waits', measure: 'parkedHandlers', unit: 'KB' },
  { kind: 'heap', name: 'heap, 10,000 sessions abandoned', measure: 'abandoned', unit: 'MB' },
]
