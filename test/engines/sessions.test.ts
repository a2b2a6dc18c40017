import { type Backplane, createRouter } from 'phantom-mcp'
import { natsBackplane } from 'phantom-mcp/nats'
import { describe, expect, test } from 'vitest'
import { afterTest, begin, legacy, resultOf, target } from '../http/_http.js'
import { connectTo, natsMissing, runNats, urlOf as urlOfNats } from './_nats.js'
import { CLIENTS, redisMissing, runRedis, urlOf } from './_redis.js'

interface Nodes {
  readonly missing: boolean
  /** The backplanes of two nodes. */
  open(): Promise<readonly [Backplane, Backplane]>
}

const ENGINES: Readonly<Record<'Redis' | 'NATS', Nodes>> = {
  Redis: {
    missing: redisMissing,
    open: async () => {
      const engine = await runRedis()
      afterTest(() => engine.end())
      const clients = [await CLIENTS.ioredis(urlOf(engine)), await CLIENTS['node-redis'](urlOf(engine))] as const
      afterTest(() => {
        for (const client of clients) client.close()
      })
      return [clients[0].backplane({}), clients[1].backplane({})]
    },
  },
  NATS: {
    missing: natsMissing,
    open: async () => {
      const engine = await runNats()
      afterTest(() => engine.end())
      const connections = [await connectTo(urlOfNats(engine)), await connectTo(urlOfNats(engine))] as const
      afterTest(async () => {
        for (const connection of connections) await connection.close()
      })
      return [natsBackplane(connections[0]), natsBackplane(connections[1])]
    },
  },
}

describe.each(['Redis', 'NATS'] as const)('sessions in %s', (name) => {
  const { missing, open } = ENGINES[name]
  const left = missing ? ` (left out: ${name} is not installed)` : ''

  test.skipIf(missing)(`begin on one node, go on on the other, and end everywhere${left}`, async () => {
    const backplanes = await open()
    const router = createRouter({
      name: 'nodes',
      version: '1.0.0',
      secretKeyBase: 'the same secret on each node, of sixty-four characters and a few more',
    })
    router.tool('hello', {}, () => 'Hello')
    const targets = await Promise.all(backplanes.map((backplane) => target('node', router, { server: { backplane } })))
    const [one, two] = targets as [(typeof targets)[0], (typeof targets)[0]]
    const { headers } = await begin(one)
    const call = legacy('tools/call', { name: 'hello', arguments: {} }, { headers })
    const expected = { content: [{ type: 'text', text: 'Hello' }] }
    expect(resultOf(await one.send(call))).toMatchObject(expected)
    expect(resultOf(await two.send(call))).toMatchObject(expected)
    expect((await two.send({ method: 'DELETE', headers })).status).toBeLessThan(300)
    expect((await one.send(call)).status).toBe(404)
    expect((await two.send(call)).status).toBe(404)
    expect(targets.flatMap(({ errors }) => errors)).toEqual([])
    for (const backplane of backplanes) await backplane.close?.()
  })
})
