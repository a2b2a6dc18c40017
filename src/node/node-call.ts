import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyTooLarge, type HttpBody, type HttpCall, type HttpHeaders, type HttpStream } from '../http/http-call.js'

const NONE: readonly string[] = []

/** Body parsers such as Express's leave what they made here. */
type MaybeParsed = IncomingMessage & { readonly body?: unknown }

/** An {@link HttpCall} over `node:http`, without a web `Request` in between: that would cost more than a small call. */
export class NodeCall implements HttpCall {
  readonly #request: MaybeParsed
  readonly #response: ServerResponse
  #onClosed: readonly (() => void)[] | undefined
  #repeats: boolean | undefined

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }
  get path(): string {
    const query = this.url.indexOf('?')
    return query < 0 ? this.url : this.url.slice(0, query)
  }
  get url(): string {
    return this.#request.url ?? '/'
  }
  get remote(): string | undefined {
    return this.#request.socket.remoteAddress
  }

  headers(name: string): readonly string[] {
    const { headers, rawHeaders } = this.#request
    // As many names as there are lines: none is there twice, and what Node keeps by name is all there is.
    this.#repeats ??= Object.keys(headers).length * 2 !== rawHeaders.length
    if (this.#repeats) return this.#request.headersDistinct[name] ?? NONE
    const value = headers[name]
    if (value === undefined) return NONE
    return typeof value === 'string' ? [value] : value
  }

  get closed(): boolean {
    const response = this.#response
    return (response.destroyed || response.closed) && !response.writableFinished
  }

  onClosed(listener: () => void): void {
    if (this.closed) return queueMicrotask(listener)
    if (this.#onClosed !== undefined) {
      // An array that grows has room for many more, and there are no more.
      this.#onClosed = this.#onClosed.concat(listener)
      return
    }
    this.#onClosed = [listener]
    // It is emitted once; `once` would keep three objects more for each stream.
    this.#response.on('close', () => {
      const listeners = this.#onClosed
      this.#onClosed = undefined
      if (this.closed) for (const told of listeners ?? []) told()
    })
  }

  body(limit: number): Promise<Uint8Array | { readonly parsed: unknown }> {
    const { body, readableEnded, headers } = this.#request
    if (readableEnded && body !== undefined) return Promise.resolve({ parsed: body })
    if (Number(headers['content-length'] ?? 0) > limit) return Promise.reject(new BodyTooLarge())
    return readBody(this.#request, limit)
  }

  reply(status: number, headers: HttpHeaders, body?: HttpBody): void {
    const response = this.#response
    if (response.headersSent || response.destroyed) return
    const length = body === undefined ? 0 : byteLength(body)
    // A flat list is what Node takes as it is.
    const flat = Object.entries(headers).flat()
    if (status !== 204) flat.push('content-length', String(length))
    response.writeHead(status, flat)
    if (typeof body === 'string' || body === undefined) response.end(body)
    else endInPieces(response, body)
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    return new NodeStream(this.#response, status, headers)
  }
}

/** An open answer over `node:http`. */
class NodeStream implements HttpStream {
  readonly #response: ServerResponse
  #waiting: Promise<void> | undefined

  constructor(response: ServerResponse, status: number, headers: HttpHeaders) {
    this.#response = response
    // A client that goes away while something is written is no error of ours; `onClosed` tells who wants to know.
    response.on('error', ignore)
    response.writeHead(status, headers)
    response.flushHeaders()
  }

  write(chunk: string): boolean {
    return isDone(this.#response) || this.#response.write(chunk)
  }

  /** One wait for all who wait: a handler may send much without waiting for any of it. */
  drained(): Promise<void> {
    this.#waiting ??= drained(this.#response).finally(() => {
      this.#waiting = undefined
    })
    return this.#waiting
  }

  cut(): void {
    this.#response.destroy()
  }

  end(): void {
    this.#response.end()
  }
}

const ignore = (): void => undefined

function byteLength(body: HttpBody): number {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body.reduce((sum, piece) => sum + (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length), 0)
}

function endInPieces(response: ServerResponse, pieces: readonly (string | Uint8Array)[]): void {
  response.cork()
  for (const piece of pieces) response.write(piece)
  response.end()
}

const isDone = (response: ServerResponse): boolean => response.destroyed || response.writableEnded

function drained(response: ServerResponse): Promise<void> {
  if (isDone(response) || !response.writableNeedDrain) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

/**
 * Counts what really comes: `content-length` may be missing or a lie. Most bodies are one chunk, which is not copied.
 * Nothing of it stays on the request: a stream would keep its body for as long as it is open.
 */
function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const settle = (finish: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose)
      finish()
      chunks = []
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else {
        request.pause()
        settle(() => reject(new BodyTooLarge()))
      }
    }
    const onEnd = (): void => settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const onError = (error: Error): void => settle(() => reject(error))
    const onClose = (): void => settle(() => reject(new Error('The client hung up')))
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose)
  })
}
