import type { Router } from 'phantom-mcp'

/** Two tools more: one that waits for ever, and says when it is told to stop, and one whose arguments go into headers. */
export function addWait(router: Router, say: (word: string) => void): Router {
  router.tool('wait', {}, (_params, session) => {
    say('waiting')
    return new Promise<string>((_resolve, reject) => {
      const stop = (): void => {
        say('aborted')
        reject(session.signal.reason as Error)
      }
      session.signal.addEventListener('abort', stop, { once: true })
    })
  })
  const inputSchema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
    },
    required: ['region'],
  }
  router.tool('routed', { inputSchema }, (params) => JSON.stringify(params))
  return router
}
