import { createRouter, createServer, type Json, type Server, type SubscribedResource } from 'phantom-mcp'
import { type Skills, skills } from 'phantom-mcp/skills'
import { connect, type TestClient } from 'phantom-mcp/testing'
import { describe, expect, test } from 'vitest'
import { verifies } from '../_setup.js'
import { refusalOf, simple } from './_skills.js'

const UPDATED = 'notifications/resources/updated'
const GUIDE = 'skill://guide/SKILL.md'
const NESTED = 'skill://guide/deep/part/x.md'
const REVIEW = 'skill://studies/a%20b/review/SKILL.md'

const guidesOf = (): Skills =>
  skills()
    .route('guide', () => simple('guide'))
    .route('guide/deep/part', () => simple('part', { 'x.md': 'x' }))
    .route('studies/:id/review', () => simple('review'))

interface Followed {
  readonly server: Server
  readonly client: TestClient
  /** Those of the URIs that the client may follow. */
  readonly honoured: readonly string[]
  /** What it was told of. */
  told(): unknown[]
}

interface Authorizing {
  readonly allowed?: readonly string[]
  readonly authorize?: (resources: readonly SubscribedResource[]) => readonly SubscribedResource[]
}

/** A client that has asked to follow these, in the way of its version. */
async function following(protocol: string, uris: readonly string[], more: Authorizing = {}): Promise<Followed> {
  const { allowed, authorize = (resources) => resources } = more
  const router = createRouter({
    name: 'test',
    version: '1.0.0',
    extensions: [guidesOf()],
    connect: (session) => (allowed === undefined ? session : session.allowResourceTemplates(allowed)),
    principal: () => null,
    authorizeResourceSubscriptions: (resources) => authorize(resources),
  })
  const server = createServer(router)
  const client = await connect(server, { protocol } as { protocol: '2025-11-25' })
  const told = (): unknown[] => client.notified(UPDATED).map(({ uri }) => uri)
  const follow = protocol === '2026-07-28' ? listen : subscribe
  return { server, client, honoured: await follow(client, uris), told }
}

async function listen(client: TestClient, uris: readonly string[]): Promise<readonly string[]> {
  const params = { notifications: { resourceSubscriptions: uris } }
  client.requestAs('l', { method: 'subscriptions/listen', params }).catch(() => undefined)
  const acknowledged = (): Json[] => client.notified('notifications/subscriptions/acknowledged')
  await expect.poll(acknowledged).toHaveLength(1)
  const [{ notifications }] = acknowledged() as [{ notifications: { resourceSubscriptions: string[] } }]
  return notifications.resourceSubscriptions
}

async function subscribe(client: TestClient, uris: readonly string[]): Promise<readonly string[]> {
  const honoured: string[] = []
  for (const uri of uris) {
    const answer = client.request('resources/subscribe', { uri })
    if (
      (await answer.then(
        () => true,
        () => false,
      )) === true
    )
      honoured.push(uri)
    else expect(await refusalOf(answer)).toMatchObject({ code: -32002, data: { uri } })
  }
  return honoured
}

describe.each(['2025-11-25', '2026-07-28'])('following skills in %s', (protocol) => {
  verifies('skills.followed', 'their files are followed, each by its one URI', async () => {
    const uris = [
      GUIDE,
      NESTED,
      REVIEW,
      'skill://guide/%53KILL.md',
      'skill://guide/../guide/SKILL.md',
      'skill://none/SKILL.md',
    ]
    const { server, honoured, told } = await following(protocol, uris)
    expect(honoured).toEqual([GUIDE, NESTED, REVIEW])
    expect(await server.notifyResourcesUpdated([GUIDE])).toBe(1)
    expect(await server.notifyResourcesUpdated([REVIEW, 'skill://studies/c/review/SKILL.md'])).toBe(1)
    expect(await server.notifyResourcesUpdated(['skill://guide/other.md'])).toBe(0)
    await expect.poll(told).toEqual([GUIDE, REVIEW])
  })

  test('authorizeResourceSubscriptions is asked about them, then and before each update', async () => {
    const asked: (readonly SubscribedResource[])[] = []
    let open = true
    const authorize = (resources: readonly SubscribedResource[]) => {
      asked.push(resources)
      return open ? resources : []
    }
    const { server, honoured, told } = await following(protocol, [REVIEW], { authorize })
    expect(honoured).toEqual([REVIEW])
    const review = {
      uri: REVIEW,
      params: { id: 'a b' },
      template: { name: 'studies/:id/review', uriTemplate: 'skill://studies/{id}/review' },
    }
    expect(asked).toEqual([[review]])
    open = false
    expect(await server.notifyResourcesUpdated([REVIEW])).toBe(0)
    expect(asked).toEqual([[review], [review]])
    expect(told()).toEqual([])
  })

  test('an allow-list hides them from those who would follow', async () => {
    const { honoured } = await following(protocol, [GUIDE, NESTED, REVIEW], { allowed: ['guide/deep/part'] })
    expect(honoured).toEqual([NESTED])
    const around = await following(protocol, [GUIDE, NESTED, REVIEW], { allowed: ['guide'] })
    expect(around.honoured).toEqual([GUIDE, NESTED])
  })
})

test('an extension that throws for a URI is passed over, which is reported', async () => {
  const errors: unknown[] = []
  const resolve = (): never => {
    throw new Error('away')
  }
  const broken = { id: 'com.example/broken', resources: { read: () => null, resolve } }
  const router = createRouter({ name: 'test', version: '1.0.0', extensions: [broken, guidesOf()] })
  const client = await connect(createServer(router, { onError: (error) => errors.push(error) }))
  expect(await listen(client, [GUIDE, 'notes://none'])).toEqual([GUIDE])
  expect(errors.map(String)).toEqual(['Error: away', 'Error: away'])
})
