export { FetchCall } from './fetch-call.js'
export { type FetchHandler, fetchHandler } from './handler.js'
