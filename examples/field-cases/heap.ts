import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// As --expose-gc would, which whoever starts this need not know of.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that are in use once the garbage is collected. */
export function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}
