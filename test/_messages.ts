import type { WireMessage } from 'phantom-mcp/testing'
import type { Cell } from './_setup.js'

type Members = Readonly<Record<string, unknown>>

/** What each request of 2026-07-28 says of its sender. */
export const META: Members = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request as a client of the cell's version writes it. */
export function request(
  cell: Cell,
  id: unknown,
  { method, params = {} }: { method: unknown; params?: Members },
): Members {
  const own = params['_meta'] as Members | undefined
  return { jsonrpc: '2.0', id, method, params: cell.sessions ? params : { ...params, _meta: { ...META, ...own } } }
}

/** The same as text, with a part of it written by hand: for what JSON.stringify cannot write. */
export function requestText(cell: Cell, id: number, { method, params }: { method: string; params: string }): string {
  const meta = cell.sessions ? '' : `,"_meta":${JSON.stringify(META)}`
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}${meta}}}`
}

/** The code of an error answer; undefined for a result. */
export function codeOf(message: WireMessage): unknown {
  return (message['error'] as Members | undefined)?.['code']
}

/** A promise with its ends in hand. */
export interface Gate<Value = void> {
  readonly promise: Promise<Value>
  open(value: Value): void
}

export function gate<Value = void>(): Gate<Value> {
  let open: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

/** For `expect.poll` on a machine that is busy: what is waited for comes at once on one that is not. */
export const PATIENT: { readonly timeout: number; readonly interval: number } = { timeout: 4_000, interval: 5 }
