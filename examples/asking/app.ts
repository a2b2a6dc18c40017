import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'phantom-mcp'
import { nodeHandler } from 'phantom-mcp/node'
import { Accounts, type User } from './accounts.js'
import { type Effects, shopRouter } from './router.js'

export interface Shop {
  readonly url: string
  readonly effects: Effects
  close(): Promise<void>
}

export interface ServeShopOptions {
  readonly port: number
  readonly users: readonly User[]
  readonly secretKeyBase: string
}

/** Serves MCP at `/mcp`, and beside it the page that `connect_account` leads to. */
export async function serveShop({ port, users, secretKeyBase }: ServeShopOptions): Promise<Shop> {
  const accounts = new Accounts(users)
  const effects: Effects = { payments: new Map(), deleted: [] }
  const http = createHttpServer((request, response) => {
    if (request.url?.startsWith('/mcp') === true) void mcp(request, response)
    else page(accounts, request, response)
  })
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server = createServer(shopRouter({ accounts, effects, secretKeyBase, pages: () => url }))
  const mcp = nodeHandler(server)
  const close = async (): Promise<void> => {
    await server.close()
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
  return { url, effects, close }
}

/** `/sign-in?as=ada` stands for a real sign-in; `/connect/:flow` is where a flow ends. */
function page(accounts: Accounts, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop')
  const answer = (status: number, text: string, cookie?: string): void => {
    const cookies = cookie === undefined ? {} : { 'set-cookie': `${cookie}; HttpOnly; SameSite=Lax; Path=/` }
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...cookies }).end(`${text}\n`)
  }
  if (pathname === '/sign-in') {
    const user = accounts.byId(searchParams.get('as'))
    return user === undefined ? answer(404, 'Nobody of that name.') : answer(200, 'Welcome.', `user=${user.token}`)
  }
  const flow = /^\/connect\/([^/]+)$/.exec(pathname)?.[1]
  if (flow === undefined) return answer(404, 'Nothing is here.')
  const signedIn = accounts.byToken(/(?:^|; )user=([^;]+)/.exec(request.headers.cookie ?? '')?.[1])
  if (signedIn === undefined) return answer(401, 'Sign in first.')
  if (!accounts.finishConnecting(flow, signedIn)) return answer(403, 'This link was made for somebody else.')
  answer(200, 'Your account is connected: go back to your conversation.')
}
