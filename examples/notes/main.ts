// The notes application. `npm start` serves it over HTTP, `npm start -- --stdio` over stdio; PORT is the port, 3000 unless set.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createServer } from 'phantom-mcp'
import { type Serving, serve } from 'phantom-mcp/node'
import { serveStdio } from 'phantom-mcp/stdio'
import { notesRouter } from './router.js'
import { sampleNotes } from './store.js'

const DEFAULT_PORT = 3000

const notes = sampleNotes()
const router = notesRouter(notes)
const server = createServer(router)

// Clients that listen are told; those that do not cost nothing.
notes.onChange((id) => {
  void server.notifyResourceList()
  void server.notifyResourcesUpdated([router.resourceUri('about'), router.resourceUri('note', { id })])
})

if (process.argv.includes('--stdio')) await serveStdio(server)
else {
  const { url } = await listen(portOf(process.env['PORT']))
  console.log(howToConnect(url))
}

async function listen(port: number): Promise<Serving> {
  try {
    return await serve(server, { port })
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    console.error(taken ? `Port ${port} is taken. PORT=0 npm start takes a free one.` : error)
    process.exit(1)
  }
}

function portOf(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_PORT
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  console.error(`PORT must be a port number, not '${text}'`)
  process.exit(2)
}

function howToConnect(url: string): string {
  // Compiled, this file is .build/examples/notes/main.js.
  const start = join(fileURLToPath(new URL('../../..', import.meta.url)), 'scripts/start.mjs')
  const desktop = { mcpServers: { notes: { command: process.execPath, args: [start, '--stdio'] } } }
  return `Notes are served at ${url} (Ctrl+C ends)

Claude Code     claude mcp add --transport http notes ${url}
VS Code         code --add-mcp '${JSON.stringify({ name: 'notes', type: 'http', url })}'
MCP Inspector   npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list
                npx @modelcontextprotocol/inspector, then Streamable HTTP and ${url} in the page that it opens
Claude Desktop  starts the server itself, over stdio: put this into claude_desktop_config.json, and restart it
${JSON.stringify(desktop, undefined, 2)}
`
}
