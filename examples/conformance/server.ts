// The everything-server that the official conformance suite asks for, on the public API only.
// PORT=n npm run serve:conformance
import { createRouter, createServer } from 'phantom-mcp'
import { serve } from 'phantom-mcp/node'
import { tasks } from 'phantom-mcp/tasks'
import { addAsking } from './asking.js'
import { openBackplane } from './backplane.js'
import { addJobs } from './jobs.js'
import { addPrompts } from './prompts.js'
import { addResources } from './resources.js'
import { createSkills } from './skills.js'
import { addTools } from './tools.js'

const jobs = tasks({ store: true })
const router = createRouter({
  name: 'phantom-mcp-conformance',
  version: '1.0.0',
  title: 'Everything server',
  instructions: 'Holds the fixtures of the MCP conformance suite.',
  extensions: [createSkills(), jobs],
  // The nodes of a cluster have it in common.
  secretKeyBase: 'for the fixture only: sixty-four characters that everybody can read here',
})
const { backplane, close: closeBackplane } = await openBackplane(process.env)
const server = createServer(router, { backplane })

addTools(router, server)
addResources(router)
addPrompts(router)
addAsking(router)
addJobs(router, jobs)

const { url, close } = await serve(server, { port: Number(process.env['PORT'] ?? 3000), signals: false })
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void close().then(closeBackplane))
}
console.error(`Conformance fixtures at ${url}`)
