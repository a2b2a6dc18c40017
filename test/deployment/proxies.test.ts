import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { hold, inSession, ProxyClient } from './_client.js'
import { configOf, type Deployment, deploy, find, PROXIES, until } from './_proxies.js'

const START_MS = 60_000

describe.each(PROXIES)('%s', (proxy) => {
  const missing = find(proxy) === undefined
  const left = missing ? ` (left out: ${proxy} is not installed)` : ''

  describe.skipIf(missing)(`in front of two processes with a shared store${left}`, { timeout: 30_000 }, () => {
    let deployed: Deployment
    let client: ProxyClient
    beforeAll(async () => {
      deployed = await deploy(proxy, { sessions: 'shared' })
      client = new ProxyClient(deployed.port)
    }, START_MS)

    test('clients of 2026-07-28 reach both processes in turn', async () => {
      const names: string[] = []
      for (let call = 0; call < 8; call++) names.push(await client.who())
      expect(names.filter((name) => name === 'a')).toHaveLength(4)
      expect(names.filter((name) => name === 'b')).toHaveLength(4)
    })

    test('each session stays with one process, and both have some', async () => {
      const homes = new Set<string>()
      for (let index = 0; index < 24; index++) {
        const headers = await client.begin()
        const names = [await client.who(headers), await client.who(headers), await client.who(headers)]
        expect(new Set(names).size).toBe(1)
        homes.add(names[0] ?? '')
      }
      expect([...homes].sort()).toEqual(['a', 'b'])
    })

    test('events come one by one, and not when the stream ends', async () => {
      const stream = (await client.open(hold('one by one'))).read()
      await stream.gets('notifications/progress')
      expect(stream.received).not.toContain('"result"')
      deployed.release('one by one')
      await stream.gets('"result"')
    })

    test('the GET stream of a session tells what comes while it is open', async () => {
      const headers = await client.begin()
      const stream = (await client.open({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).read()
      expect(stream.answer.statusCode).toBe(200)
      for (const round of [1, 2]) {
        expect((await client.text(inSession('tell', headers))).status).toBe(200)
        const told = (): number => stream.received.split('notifications/message').length - 1
        await until(
          () => told() === round,
          () => stream.received,
        )
      }
      stream.hangUp()
    })

    test('a client that hangs up in a stream has cancelled its call', async () => {
      const stream = (await client.open(hold('left stream'))).read()
      await stream.gets('notifications/progress')
      stream.hangUp()
      await deployed.says('aborted left stream')
    })

    test('a client that hangs up before there is anything has cancelled its call', async () => {
      const request = client.leaveUnanswered(hold('left early', { accept: 'application/json' }))
      await deployed.says('holding left early')
      request.destroy()
      await deployed.says('aborted left early')
    })

    test('a name that is not listed is refused by the server', async () => {
      const headers = { host: 'evil.example' }
      expect((await client.text({ ...hold('x'), headers: { ...hold('x').headers, ...headers } })).status).toBe(403)
    })
  })

  describe.skipIf(missing)(`in front of two processes with memory${left}`, { timeout: 30_000 }, () => {
    test('every session finds its process', async () => {
      const client = new ProxyClient((await deploy(proxy, { sessions: 'memory' })).port)
      const homes = new Set<string>()
      for (let index = 0; index < 16; index++) {
        const headers = await client.begin()
        const names = [await client.who(headers), await client.who(headers), await client.who(headers)]
        expect(new Set(names).size).toBe(1)
        homes.add(names[0] ?? '')
      }
      expect([...homes].sort()).toEqual(['a', 'b'])
      expect(new Set([await client.who(), await client.who()]).size).toBe(2)
    })
  })
})

const without = (proxy: 'nginx' | 'haproxy'): string =>
  find(proxy) === undefined ? ` (left out: ${proxy} is not installed)` : ''

describe.skipIf(find('nginx') === undefined)(`nginx, what the samples rest on${without('nginx')}`, () => {
  // Without the line nginx speaks HTTP/1.0 to the server, and by itself keeps what comes until a buffer is full.
  const plain = (config: string): string => config.replace('proxy_http_version 1.1;', '')

  test('X-Accel-Buffering lets events through a location that says nothing else', { timeout: START_MS }, async () => {
    const deployed = await deploy('nginx', { sessions: 'memory', change: plain })
    const stream = (await new ProxyClient(deployed.port).open(hold('through'))).read()
    await stream.gets('notifications/progress')
    deployed.release('through')
    await stream.gets('"result"')
  })

  test('without it they are held back', { timeout: START_MS }, async () => {
    const change = (config: string): string =>
      plain(config).replace('location / {', 'location / { proxy_ignore_headers X-Accel-Buffering;')
    const deployed = await deploy('nginx', { sessions: 'memory', change })
    const opening = new ProxyClient(deployed.port).open(hold('buffered'))
    await deployed.says('holding buffered')
    const stream = await Promise.race([opening.then((opened) => opened.read()), sleep(500)])
    await sleep(500)
    expect(stream?.received ?? '').toBe('')
    deployed.release('buffered')
    await (await opening).gets('"result"')
  })
})

describe.skipIf(find('haproxy') === undefined)(`HAProxy, what the samples rest on${without('haproxy')}`, () => {
  test('comments keep a silent stream beyond the limits of the proxy', { timeout: START_MS }, async () => {
    const change = (config: string): string => config.replaceAll(/timeout (client|server) 60s/g, 'timeout $1 1s')
    const deployed = await deploy('haproxy', { sessions: 'memory', change })
    const stream = (await new ProxyClient(deployed.port).open(hold('silent'))).read()
    await stream.gets('notifications/progress')
    await sleep(2_500)
    deployed.release('silent')
    await stream.gets('"result"')
  })

  /** Milliseconds that the fastest of some events has needed, on a stream that each of them finds idle. */
  async function fastest(change: (config: string) => string): Promise<number> {
    const client = new ProxyClient((await deploy('haproxy', { sessions: 'memory', change })).port)
    const headers = await client.begin()
    const stream = (await client.open({ method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).read()
    const needed: number[] = []
    for (let round = 1; round <= 5; round++) {
      await sleep(100)
      const started = performance.now()
      await client.text(inSession('tell', headers))
      await until(
        () => stream.received.split('notifications/message').length - 1 === round,
        () => stream.received,
      )
      needed.push(performance.now() - started)
    }
    stream.hangUp()
    return Math.min(...needed)
  }

  test('small events are passed on at once', { timeout: START_MS }, async () => {
    expect(await fastest((config) => config)).toBeLessThan(100)
  })

  test('without option http-no-delay they are held back', { timeout: START_MS }, async () => {
    expect(await fastest((config) => config.replace('option http-no-delay', ''))).toBeGreaterThan(100)
  })
})

describe('docs/deployment.md', () => {
  test.each(PROXIES)('has both samples for %s', (proxy) => {
    for (const sessions of ['shared', 'memory'] as const) {
      expect(configOf(proxy, sessions)).toContain('127.0.0.1:8080')
    }
  })
})
