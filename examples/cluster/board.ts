import { createRouter, createServer, Elicit, field, Tool } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { openBackplane } from './backplane.js'

export interface BoardNode {
  readonly url: string
  close(): Promise<void>
}

export interface ServeBoardOptions {
  readonly port: number
  readonly backplaneUrl: string
  /** The same on each node. */
  readonly secretKeyBase: string
  /** What this node is called. */
  readonly nodeId: string
}

const BOARD = 'board://notes'
const NOTES = 'board-example/notes'
const KEPT = { ttlMs: 86_400_000, maxEntries: 100, maxBytes: 1_048_576 }

const confirm = Elicit.form({
  message: 'Take all notes off the board?',
  fields: { sure: field.boolean({ required: true }) },
})

/**
 * One node of a board: its notes are in the store that the nodes share, and so are sessions and streams. Who follows the board
 * hears of a note, whichever node it was posted on.
 */
export async function serveBoard(options: ServeBoardOptions): Promise<BoardNode> {
  const { port, backplaneUrl, secretKeyBase, nodeId } = options
  const { backplane, close: closeBackplane } = await openBackplane(backplaneUrl)
  const router = createRouter({ name: 'board', version: '1.0.0', secretKeyBase })
  const server = createServer(router, { backplane, nodeId })

  router.resource(BOARD, { name: 'board', mimeType: 'text/plain' }, async () => {
    const { entries } = await backplane.store.readAfter(NOTES, undefined, KEPT.maxEntries)
    return entries.map(({ value }) => value).join('\n')
  })
  router.tool(
    'post_note',
    { description: 'Put a note on the board.', input: { text: field.string({ required: true, maxLength: 1_000 }) } },
    async ({ text }) => {
      await backplane.store.append(NOTES, text, KEPT)
      const told = await server.notifyResourcesUpdated([BOARD])
      return `Posted by ${nodeId}; ${told} followers were told.`
    },
  )
  router.tool(
    'clear_board',
    { description: 'Take all notes off the board, if the user agrees.', replay: true },
    async (_params, session) => {
      const answer = await session.elicit(confirm)
      if (answer.action !== 'accept' || !answer.content.sure) return Tool.error('The notes stay.')
      await backplane.store.drop(NOTES)
      await server.notifyResourcesUpdated([BOARD])
      return `Cleared by ${nodeId}.`
    },
  )

  // More than the server has to be closed here, in this order.
  const serving = await serve(server, { port, signals: false })
  const close = async (): Promise<void> => {
    await serving.close()
    await closeBackplane()
  }
  return { url: serving.url, close }
}
