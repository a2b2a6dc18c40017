import type { Implementation } from '../protocol/model.js'
import type { CallSession } from './call-session.js'
import type { ServerContext } from './context.js'

/** The server's name for this client; one that cannot be told is left out, and reported. */
export function infoFor({ router, report }: ServerContext, session: CallSession): Implementation | undefined {
  const { serverInfo } = router.options
  if (serverInfo === undefined) return router.info
  try {
    return serverInfo(session as never)
  } catch (error) {
    report(error, session)
    return undefined
  }
}

export function instructionsFor({ router, report }: ServerContext, session: CallSession): string | undefined {
  const { instructions } = router.options
  if (typeof instructions !== 'function') return instructions
  try {
    return instructions(session as never)
  } catch (error) {
    report(error, session)
    return undefined
  }
}
