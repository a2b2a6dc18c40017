export { type StdioOptions, serveStdio } from './serve-stdio.js'
