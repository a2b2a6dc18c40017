import type { Backplane } from 'phantom-mcp'
import { testPubSub } from '../contract/pub-sub-contract.js'
import { testStore } from '../contract/store-contract.js'

/** Two nodes on one server, where nothing is kept yet. */
export interface OpenedNodes {
  readonly here: Backplane
  readonly there: Backplane
  close(): Promise<void>
  /** Stops the server, and starts it again. */
  lose?(): Promise<void>
  restore?(): Promise<void>
}

export interface Contracts {
  /** Called once per test. */
  open(): Promise<OpenedNodes>
  /** For the tests in which the connection is lost: a server of its own. */
  openLosable(): Promise<Required<OpenedNodes>>
}

/** Both contracts, with one node writing and the other one reading. */
export function testContracts(name: string, { open, openLosable }: Contracts): void {
  const store = (opened: OpenedNodes) => ({ ...opened, store: opened.here.store, peer: opened.there.store })
  const pubSub = (opened: OpenedNodes) => ({ ...opened, pubSub: opened.here.pubSub, peer: opened.there.pubSub })
  testStore(name, async () => store(await open()), { openLosable: async () => store(await openLosable()) })
  testPubSub(name, async () => pubSub(await open()), { openLosable: async () => pubSub(await openLosable()) })
}
