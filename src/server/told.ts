import { isPromise } from '../awaitable.js'
import { isObject } from '../protocol/jsonrpc.js'
import type { Implementation } from '../protocol/model.js'
import type { CallSession } from './call-session.js'
import type { ServerContext } from './context.js'

/** The server's name for this client; one that cannot be told is left out, and reported. */
export function infoFor(context: ServerContext, session: CallSession): Implementation | undefined {
  const { router } = context
  const { serverInfo } = router.options
  if (serverInfo === undefined) return router.info
  const info = told(context, session, () => serverInfo(session as never))
  if (info === undefined || isImplementation(info)) return info
  context.report(new TypeError('createRouter, serverInfo: it must return { name, version } at once'), session)
  return undefined
}

export function instructionsFor(context: ServerContext, session: CallSession): string | undefined {
  const { instructions } = context.router.options
  if (typeof instructions !== 'function') return instructions
  const text = told(context, session, () => instructions(session as never))
  if (text === undefined || typeof text === 'string') return text
  context.report(new TypeError('createRouter, instructions: it must return a string at once'), session)
  return undefined
}

/** What a callback says; nothing where it throws, or rejects later. */
function told({ report }: ServerContext, session: CallSession, callback: () => unknown): unknown {
  const failed = (error: unknown): undefined => void report(error, session)
  try {
    const value = callback()
    if (isPromise(value)) value.then(undefined, failed)
    return value
  } catch (error) {
    return failed(error)
  }
}

function isImplementation(value: unknown): value is Implementation {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['version'] === 'string'
}
