// `npm start`: the demo. `npm start -- --stdio` serves it over stdio.
import { runExample } from './run-example.mjs'

await runExample('examples/notes/main', process.argv.slice(2))
