// The notes application. `npm start` serves it over HTTP, `npm start -- --stdio` over stdio; PORT is the port, 3000 unless set.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve } from 'phantom-mcp/node'
import { serveStdio } from 'phantom-mcp/stdio'
import { notesRouter } from './router.js'

const DEFAULT_PORT = 3000

if (process.argv.includes('--stdio')) await serveStdio(notesRouter())
else {
  const { url } = await serve(notesRouter(), { port: portOf(process.env['PORT']) })
  console.log(howToConnect(url))
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
