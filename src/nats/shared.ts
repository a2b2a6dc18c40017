import type { NatsLink } from './link.js'

/** What the parts of one backplane share. */
export interface NatsShared {
  readonly link: NatsLink
  readonly prefix: string
  /** Undefined for the clock of the server. */
  readonly clock: (() => number) | undefined
  readonly storage: 'file' | 'memory'
  readonly replicas: number
}

/** The same for one half of the store. */
export type NatsHalf = NatsShared & { readonly clock: () => number }
