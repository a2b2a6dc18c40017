// node scripts/run-example.mjs examples/notes/main [arguments]
// Builds the library and the examples when a source is newer, then runs the compiled file in this very process, so that
// streams, signals and the exit code are its own. Nothing but the example writes to stdout.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildStale, root } from './build.mjs'

/** Runs an example or a bench, named by its path without the suffix. */
export async function runExample(name, args) {
  try {
    buildStale()
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  const file = join(root, '.build', `${name}.js`)
  if (!existsSync(file)) {
    console.error(`There is no ${name}.ts. Usage: node scripts/run-example.mjs examples/notes/main [arguments]`)
    process.exit(2)
  }
  process.argv.splice(1, process.argv.length - 1, file, ...args)
  process.setSourceMapsEnabled(true)
  if (process.env.npm_lifecycle_event) endWithParent()
  await import(pathToFileURL(file).href)
}

/** npm passes SIGTERM to a shell that may die of it alone: then this process asks itself to end. */
function endWithParent() {
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name = '', ...args] = process.argv.slice(2)
  await runExample(name.replace(/\.[jt]s$/, ''), args)
}
