import { request } from 'node:http'
import { initializeBody, type LoadRequest, type LoadStep } from './requests.js'

interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** One request on a connection of its own. */
export function post(port: number, headers: Readonly<Record<string, string>>, body: string): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks).toString(),
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Header sets for so many connections: where the version has sessions, each connection begins one. */
export async function openHeaders(
  port: number,
  { headers, session }: LoadRequest,
  connections: number,
): Promise<readonly Readonly<Record<string, string>>[]> {
  if (session === undefined) return Array.from({ length: connections }, () => headers)
  const opened: Record<string, string>[] = []
  for (let index = 0; index < connections; index++) {
    const answer = await post(port, headers, initializeBody)
    const id = answer.headers['mcp-session-id']
    // A bare server has no sessions; it gets a header of the same size.
    opened.push({ ...headers, 'mcp-session-id': typeof id === 'string' ? id : crypto.randomUUID() })
  }
  return opened
}

/** The request as it goes over the wire. */
export function toWire(port: number, { method, headers, body }: LoadStep): string {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...headers, 'content-length': String(body.length) })
  return `${method} /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}
