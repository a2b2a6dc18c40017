import type { NatsLink } from './link.js'

/** What the parts of one backplane share. */
export interface NatsShared {
  readonly link: NatsLink
  readonly prefix: string
  readonly clock: () => number
  readonly storage: 'file' | 'memory'
  readonly replicas: number
}
