import { TestClient } from 'phantom-mcp/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { type Shop, serveShop } from '../../examples/asking/app.js'
import { HttpWire } from '../_wires.js'
import { SECRET, textOf } from '../asking/_asking.js'

const USERS = [
  { id: 'ada', token: 'ada-token' },
  { id: 'bo', token: 'bo-token' },
]

let shop: Shop | undefined
afterEach(async () => {
  await shop?.close()
  shop = undefined
})

type Answers = Pick<Parameters<typeof TestClient.connect>[1] & object, 'elicit' | 'capabilities'>

async function connectAs(user: string, version: '2025-11-25' | '2026-07-28', answers: Answers): Promise<TestClient> {
  shop ??= await serveShop({ port: 0, users: USERS, secretKeyBase: SECRET })
  const wire = new HttpWire({
    url: `${shop.url}/mcp`,
    version,
    post: (request) => fetch(request),
    headers: () => ({ authorization: `Bearer ${user}-token` }),
    closed: async () => undefined,
  })
  return await TestClient.connect(wire, { protocol: version, ...answers })
}

/** Opens a page in the browser of a user. */
async function browse(url: string, user?: string): Promise<number> {
  const signedIn = user === undefined ? undefined : await fetch(`${shop?.url}/sign-in?as=${user}`)
  const cookie = signedIn?.headers.get('set-cookie')?.split(';')[0]
  return (await fetch(url, cookie === undefined ? {} : { headers: { cookie } })).status
}

describe.each(['2025-11-25', '2026-07-28'] as const)('the shop, for clients of %s', (version) => {
  it('books a table by a form', async () => {
    const client = await connectAs('ada', version, { elicit: () => ({ guests: 2 }) })
    expect(textOf(await client.callTool('book_table'))).toBe('A table for 2 at 20:00.')
    const mute = await connectAs('ada', version, {})
    expect(textOf(await mute.callTool('book_table'))).toBe('Call us to book a table.')
  })

  it('deletes a file by a step', async () => {
    const client = await connectAs('ada', version, { elicit: () => ({ confirm: 'yes' }) })
    expect(textOf(await client.callTool('delete_file', { path: 'a.txt' }))).toBe('a.txt is deleted.')
    const timid = await connectAs('ada', version, { elicit: () => 'decline' })
    expect(textOf(await timid.callTool('delete_file', { path: 'b.txt' }))).toBe('Nothing was deleted.')
    expect(shop?.effects.deleted).toEqual(['a.txt'])
  })

  it('charges once', async () => {
    const client = await connectAs('ada', version, { elicit: () => ({ street: 'Main Street 1' }) })
    expect(textOf(await client.callTool('buy', { cents: 5 }))).toBe('5 cents are paid; sent to Main Street 1.')
    expect([...(shop?.effects.payments.values() ?? [])]).toEqual([5])
  })
})

describe('the page of connect_account', () => {
  it('is for the user who started, and the call goes on when they are done', async () => {
    const statuses: number[] = []
    const client = await connectAs('ada', '2026-07-28', {
      elicit: async ({ url }) => {
        for (const user of [undefined, 'bo', 'ada', 'ada']) statuses.push(await browse(String(url), user))
        return 'accept' as const
      },
    })
    expect(textOf(await client.callTool('connect_account'))).toBe('The account is connected.')
    // Nobody, somebody else, the right one, and again: a flow ends once.
    expect(statuses).toEqual([401, 403, 200, 403])
  })

  it('is told as an error that the client acts upon, in 2025-11-25', async () => {
    const client = await connectAs('ada', '2025-11-25', { elicit: () => 'accept' })
    const error = await client.callTool('connect_account').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: -32042, data: { elicitations: [{ mode: 'url' }] } })
    const [{ url, elicitationId }] = (error as { data: { elicitations: [{ url: string; elicitationId: string }] } })
      .data.elicitations
    expect(url).toBe(`${shop?.url}/connect/${elicitationId}`)
    expect(await browse(url, 'ada')).toBe(200)
    expect(textOf(await client.callTool('connect_account'))).toBe('The account is connected.')
  })

  it('refused is an error that the model reads', async () => {
    const client = await connectAs('ada', '2026-07-28', { elicit: () => 'decline' })
    expect(await client.callTool('connect_account')).toMatchObject({ isError: true })
  })
})
