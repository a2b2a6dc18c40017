export { type NodeHandler, nodeHandler } from './handler.js'
export { NodeCall } from './node-call.js'
export { type ServeOptions, type Serving, serve } from './serve.js'
