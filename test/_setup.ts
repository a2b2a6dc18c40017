import { createServer, type HttpOptions, type Router, type Server, type ServerOptions } from 'phantom-mcp'
import { fetchHandler } from 'phantom-mcp/fetch'
import { serve } from 'phantom-mcp/node'
import { type ClientOptions, TestClient } from 'phantom-mcp/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { type ExtraHeaders, HttpWire, MemoryWire, type RawWire, StdioWire } from './_wires.js'
import { requirements } from './requirements.js'

export type Version = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'
export type Transport = 'memory' | 'node' | 'fetch' | 'stdio'

export const VERSIONS: readonly Version[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
export const SESSION_VERSIONS: readonly Version[] = VERSIONS.slice(0, 4)
export const STATELESS_VERSIONS: readonly Version[] = ['2026-07-28']
const TRANSPORTS: readonly Transport[] = ['memory', 'node', 'fetch', 'stdio']
/** Where requests share one pipe. */
export const PIPES: readonly Transport[] = ['memory', 'stdio']
export const HTTP: readonly Transport[] = ['node', 'fetch']

/** One cell of the matrix. */
export interface Cell {
  readonly transport: Transport
  readonly version: Version
  /** The cell's version has sessions. */
  readonly sessions: boolean
  readonly http: boolean
}

export interface SetupOptions extends ClientOptions {
  readonly server?: ServerOptions
  readonly httpOptions?: HttpOptions
  /** More HTTP headers of a message. */
  readonly headers?: ExtraHeaders
}

/** Serves a router in the cell's transport, and connects a client of the cell's version. All of it is undone after the test. */
export interface Setup {
  <Assigns extends object>(router: Router<Assigns>, options?: SetupOptions): Promise<TestClient>
  /** A wire without a client: nothing has been sent on it, not even `initialize`. */
  bare<Assigns extends object>(router: Router<Assigns>, options?: SetupOptions): Promise<RawWire>
  /** The server that was made last. */
  readonly server: Server
  /** The wire of the client that was made last. */
  readonly wire: RawWire
  /** Another client of the server that was made last. */
  another(options?: SetupOptions): Promise<TestClient>
  /** The errors that reached `onError` since the last time; a test that leaves one behind fails. */
  takeErrors(): unknown[]
  /** Takes the errors, of which there must be so many. */
  expectErrors(count: number): unknown[]
}

export interface MatrixOptions {
  readonly transports?: readonly Transport[]
  readonly versions?: readonly Version[]
}

/** Runs the tests of `body` in each cell of the matrix. */
export function describeMatrix(title: string, options: MatrixOptions, body: (setup: Setup, cell: Cell) => void): void {
  const { transports = TRANSPORTS, versions = VERSIONS } = options
  describe(title, () => {
    const seen = new Set<string>()
    const run = new Set<string>()
    for (const transport of transports) {
      for (const version of versions) {
        const cell: Cell = {
          transport,
          version,
          sessions: version !== '2026-07-28',
          http: transport === 'node' || transport === 'fetch',
        }
        describe(`${transport} ${version}`, () => inCell(cell, { seen, run }, () => body(setupOf(cell), cell)))
      }
    }
    // The cells are collected after this body, so what they hold is known to a test only.
    test('every requirement here has a cell', () => {
      expect([...seen].filter((id) => !run.has(id))).toEqual([])
    })
  })
}

interface Collected {
  readonly seen: Set<string>
  readonly run: Set<string>
}

let current: { readonly cell: Cell; readonly collected: Collected } | undefined

function inCell(cell: Cell, collected: Collected, body: () => void): void {
  current = { cell, collected }
  try {
    body()
  } finally {
    current = undefined
  }
}

const rows = new Map(requirements.map((row) => [row.id, row]))

/**
 * A test of one or more rows of `requirements.ts`. Inside of a matrix it runs only in the cells that all its rows apply to.
 *
 * @throws when a row does not exist.
 */
export function verifies(ids: string | readonly string[], title: string, run: () => Promise<void> | void): void {
  const named = (typeof ids === 'string' ? [ids] : ids).map((id) => {
    const row = rows.get(id)
    if (row === undefined) throw new Error(`There is no requirement '${id}' in requirements.ts`)
    return row
  })
  if (current !== undefined) {
    const { cell, collected } = current
    const applies = named.every(
      ({ versions, transports }) =>
        (versions?.includes(cell.version) ?? true) && (transports?.includes(cell.transport) ?? true),
    )
    for (const { id } of named) collected.seen.add(id)
    if (!applies) return
    for (const { id } of named) collected.run.add(id)
  }
  test(`${title} [${named.map(({ id }) => id).join(', ')}]`, run)
}

function setupOf(cell: Cell): Setup {
  const errors: unknown[] = []
  const undo: (() => Promise<void> | void)[] = []
  let server: Server | undefined
  let last: RawWire | undefined

  afterEach(async () => {
    const steps = undo.splice(0).reverse()
    for (const step of steps) await step()
    const left = errors.splice(0)
    expect(left, 'errors that reached onError and that the test did not expect').toEqual([])
  })

  const connect = async (options: SetupOptions): Promise<TestClient> => {
    const wire = await openWire(cell, server as Server, options)
    last = wire
    undo.push(() => wire.close())
    const { server: _server, httpOptions: _http, headers: _headers, ...client } = options
    return await TestClient.connect(wire, { protocol: cell.version, ...client })
  }
  const makeServer = (router: Router<never>, options: SetupOptions): void => {
    server = createServer(router, { ...options.server, onError: (error) => errors.push(error) })
  }
  const setup = async (router: Router<never>, options: SetupOptions = {}): Promise<TestClient> => {
    makeServer(router, options)
    return await connect(options)
  }
  const takeErrors = (): unknown[] => errors.splice(0)
  return Object.defineProperties(setup, {
    server: { get: () => server },
    wire: { get: () => last },
    bare: {
      value: async (router: Router<never>, options: SetupOptions = {}) => {
        makeServer(router, options)
        const wire = await openWire(cell, server as Server, options)
        last = wire
        undo.push(() => wire.close())
        await wire.open(() => undefined, cell.version)
        return wire
      },
    },
    another: { value: (options: SetupOptions = {}) => connect(options) },
    takeErrors: { value: takeErrors },
    expectErrors: {
      value: (count: number) => {
        expect(errors, 'errors that reached onError').toHaveLength(count)
        return takeErrors()
      },
    },
  }) as unknown as Setup
}

async function openWire(cell: Cell, server: Server, options: SetupOptions): Promise<RawWire> {
  const { headers, httpOptions = {}, protocol: version = cell.version } = options
  switch (cell.transport) {
    case 'memory':
      return new MemoryWire(server)
    case 'stdio':
      return new StdioWire(server)
    case 'fetch': {
      const post = fetchHandler(server, httpOptions)
      return new HttpWire({ url: 'http://localhost/mcp', version, post, headers, closed: async () => undefined })
    }
    case 'node': {
      const serving = await serve(server, { port: 0, signals: false, ...httpOptions })
      const post = (request: Request): Promise<Response> => fetch(request)
      return new HttpWire({ url: serving.url, version, post, headers, closed: () => serving.close() })
    }
  }
}
