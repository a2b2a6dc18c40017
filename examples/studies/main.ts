// Studies over HTTP, in a database. PORT is the port, 3000 unless set; STUDIES_DB is a file, in memory unless set.
// node scripts/run-example.mjs examples/studies/main, then send `authorization: Bearer ada-token`.
import { serve } from 'phantom-mcp/node'
import { openStudies } from './database.js'
import { studiesRouter } from './router.js'

const studies = openStudies(process.env['STUDIES_DB'])
const { url } = await serve(studiesRouter(studies), { port: Number(process.env['PORT'] ?? 3000) })
process.once('exit', () => studies.close())
console.error(`Studies at ${url}`)
