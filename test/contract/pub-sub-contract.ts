import { describe, expect, test, vi } from 'vitest'
import type { PubSub } from '../../src/backplane/pub-sub.js'

/** A pub/sub for one test, on which nothing is subscribed. */
export interface OpenedPubSub {
  readonly pubSub: PubSub
  /** Another node's. @default pubSub */
  readonly peer?: PubSub
  close(): Promise<void> | void
  /** Cuts the connections of `pubSub`, and gives them back. */
  lose?(): Promise<void>
  restore?(): Promise<void>
}

interface Setting {
  readonly pubSub: PubSub
  readonly peer: PubSub
}

type Open = () => Promise<OpenedPubSub>

// 8 MiB in UTF-8, half as many characters.
const HUGE = 'ä'.repeat(4 * 1024 * 1024)

/** What every `PubSub` does, as tests. `open` is called once per test; `openLosable` gives one whose connection can be cut. */
export function testPubSub(name: string, open: Open, options: { readonly openLosable?: Open } = {}): void {
  describe(`pub/sub contract: ${name}`, () => {
    testDelivery(open)
    testSubscriptions(open)
    testListeners(open)
    if (options.openLosable) testConnection(options.openLosable)
  })
}

function check(open: Open, title: string, body: (setting: Setting) => Promise<void>): void {
  test(title, async () => {
    const opened = await open()
    const { pubSub, peer = pubSub } = opened
    try {
      await body({ pubSub, peer })
    } finally {
      await opened.close()
    }
  })
}

function testDelivery(open: Open): void {
  describe('delivery', () => {
    check(open, 'every subscription of a topic hears a message once, on every node', async ({ pubSub, peer }) => {
      const heard: string[] = []
      await pubSub.subscribe('t', (message) => heard.push(`1 ${message}`))
      await pubSub.subscribe('t', (message) => heard.push(`2 ${message}`))
      await peer.subscribe('t', (message) => heard.push(`3 ${message}`))
      await pubSub.publish('t', 'from here')
      await eventually(() => expect([...heard].sort()).toEqual(['1 from here', '2 from here', '3 from here']))
      heard.length = 0
      await peer.publish('t', 'from there')
      await eventually(() => expect([...heard].sort()).toEqual(['1 from there', '2 from there', '3 from there']))
    })

    check(open, 'a topic is any string, and no pattern', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const topics = ['a:b/ä*c d', 'a:b/äxc d', 'a.b', 'a.*', 'a.>', '*', '>', 'a?', 'a[b]', ' ', 'a  b', 'ä€😀']
      for (const topic of topics) await pubSub.subscribe(topic, (message) => heard.push(`${topic} hears ${message}`))
      for (const topic of topics) await peer.publish(topic, topic)
      await eventually(() => expect(heard.length).toBeGreaterThanOrEqual(12))
      await heardBy(pubSub, peer, 'fence')
      expect([...heard].sort()).toEqual(topics.map((topic) => `${topic} hears ${topic}`).sort())
    })

    check(open, 'a topic of 5,000 characters, and one that differs from it in the last', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const [one, other] = ['a', 'b'].map((last) => `${'long/'.repeat(1_000)}${last}`) as [string, string]
      await pubSub.subscribe(one, (message) => heard.push(message))
      await pubSub.subscribe(other, (message) => heard.push(`other ${message}`))
      const expected = Array.from({ length: 100 }, (_, index) => String(index))
      await Promise.all(expected.map((message) => peer.publish(one, message)))
      await eventually(() => expect(heard).toHaveLength(100))
      expect(heard).toEqual(expected)
      await peer.publish(other, 'x')
      await eventually(() => expect(heard.at(-1)).toBe('other x'))
    })

    check(open, 'what one node publishes to a topic arrives in order', async ({ pubSub, peer }) => {
      const heard: string[] = []
      await pubSub.subscribe('t', (message) => heard.push(message))
      const expected = Array.from({ length: 500 }, (_, index) => String(index))
      await Promise.all(expected.map((message) => peer.publish('t', message)))
      await eventually(() => expect(heard).toHaveLength(500))
      expect(heard).toEqual(expected)
    })

    check(open, 'large and small messages keep the order too', async ({ pubSub, peer }) => {
      const heard: number[] = []
      await pubSub.subscribe('t', (message) => heard.push(message.length))
      await Promise.all(['1', HUGE, '22', HUGE, '333'].map((message) => peer.publish('t', message)))
      await eventually(() => expect(heard).toEqual([1, 4_194_304, 2, 4_194_304, 3]))
    })

    check(open, 'large messages of two nodes at once are heard by both', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const hear = (name: string) => (message: string) => heard.push(`${name} ${message[0]} ${message.length}`)
      await pubSub.subscribe('t', hear('here'))
      await peer.subscribe('t', hear('there'))
      const [a, b] = ['a', 'b'].map((name) => name.repeat(3_000_000)) as [string, string]
      await Promise.all([pubSub.publish('t', a), peer.publish('t', b)])
      const expected = ['here a 3000000', 'here b 3000000', 'there a 3000000', 'there b 3000000']
      await eventually(() => expect([...heard].sort()).toEqual(expected))
    })

    check(open, 'a message is any string, one of 8 MiB too', async ({ pubSub, peer }) => {
      const heard: string[] = []
      await pubSub.subscribe('t', (message) => heard.push(message))
      for (const message of ['', 'line\nline\r\n', '"\\\u0000\u2028', 'ä€😀', HUGE]) await peer.publish('t', message)
      await eventually(() => expect(heard).toHaveLength(5))
      expect(heard.slice(0, 4)).toEqual(['', 'line\nline\r\n', '"\\\u0000\u2028', 'ä€😀'])
      expect(heard[4] === HUGE).toBe(true)
    })

    check(open, 'no one has to listen', async ({ pubSub, peer }) => {
      await pubSub.publish('nobody', 'x')
      const heard: string[] = []
      await pubSub.subscribe('nobody', (message) => heard.push(message))
      await peer.publish('nobody', 'y')
      await eventually(() => expect(heard).toEqual(['y']))
    })

    check(open, 'no listener runs before publish returns', async ({ pubSub }) => {
      const heard: string[] = []
      await pubSub.subscribe('t', (message) => heard.push(message))
      const published = pubSub.publish('t', 'x')
      expect(heard).toEqual([])
      await published
      await eventually(() => expect(heard).toEqual(['x']))
    })
  })
}

function testSubscriptions(open: Open): void {
  describe('subscriptions', () => {
    check(open, 'a second one is certain although the first is still on its way', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const first = pubSub.subscribe('t', () => {})
      await pubSub.subscribe('t', (message) => heard.push(message))
      await peer.publish('t', 'x')
      await first
      await eventually(() => expect(heard).toEqual(['x']))
    })

    check(open, 'one that comes while the last one goes is certain', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const unsubscribe = await pubSub.subscribe('t', (message) => heard.push(`old ${message}`))
      const [, second] = await Promise.all([
        unsubscribe(),
        pubSub.subscribe('t', (message) => heard.push(`new ${message}`)),
      ])
      await peer.publish('t', 'x')
      await eventually(() => expect(heard).toEqual(['new x']))
      const third = pubSub.subscribe('t', (message) => heard.push(`newer ${message}`))
      await Promise.all([third, second()])
      await peer.publish('t', 'y')
      await eventually(() => expect(heard).toEqual(['new x', 'newer y']))
    })

    check(open, 'no message after unsubscribe has resolved', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const unsubscribe = await pubSub.subscribe('t', (message) => heard.push(message))
      await pubSub.subscribe('t', () => {})
      await peer.publish('t', 'before')
      await eventually(() => expect(heard).toEqual(['before']))
      await unsubscribe()
      await peer.publish('t', 'after')
      await heardBy(pubSub, peer, 't')
      expect(heard).toEqual(['before'])
    })

    check(
      open,
      'none after the last subscription of a topic has gone, and a new one hears again',
      async ({ pubSub, peer }) => {
        const heard: string[] = []
        const unsubscribe = await pubSub.subscribe('t', (message) => heard.push(`old ${message}`))
        await unsubscribe()
        await peer.publish('t', 'lost')
        await heardBy(pubSub, peer, 'fence')
        await pubSub.subscribe('t', (message) => heard.push(`new ${message}`))
        await peer.publish('t', 'x')
        await eventually(() => expect(heard).toEqual(['new x']))
      },
    )

    check(open, 'unsubscribing twice ends one subscription, not two', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const unsubscribe = await pubSub.subscribe('t', (message) => heard.push(`1 ${message}`))
      await pubSub.subscribe('t', (message) => heard.push(`2 ${message}`))
      await unsubscribe()
      await unsubscribe()
      await Promise.all([unsubscribe(), unsubscribe()])
      await peer.publish('t', 'x')
      await eventually(() => expect(heard).toEqual(['2 x']))
    })

    check(open, 'unsubscribing again does not end a later subscription', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const listener = (message: string): void => {
        heard.push(message)
      }
      const unsubscribe = await pubSub.subscribe('t', listener)
      await unsubscribe()
      await pubSub.subscribe('t', listener)
      await unsubscribe()
      await peer.publish('t', 'x')
      await eventually(() => expect(heard).toEqual(['x']))
    })

    check(open, 'the same listener twice is two subscriptions', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const listener = (message: string): void => {
        heard.push(message)
      }
      const unsubscribe = await pubSub.subscribe('t', listener)
      await pubSub.subscribe('t', listener)
      await peer.publish('t', 'x')
      await eventually(() => expect(heard).toEqual(['x', 'x']))
      await unsubscribe()
      await peer.publish('t', 'y')
      await heardBy(pubSub, peer, 't')
      expect(heard.slice(0, 3)).toEqual(['x', 'x', 'y'])
      expect(heard.filter((message) => message === 'y')).toHaveLength(1)
    })
  })
}

function testListeners(open: Open): void {
  describe('listeners', () => {
    check(open, 'one that throws stops neither the others nor its own next message', async ({ pubSub, peer }) => {
      const heard: string[] = []
      await pubSub.subscribe('t', (message) => {
        heard.push(`1 ${message}`)
        throw new Error('a listener that throws')
      })
      await pubSub.subscribe('t', (message) => heard.push(`2 ${message}`))
      await peer.publish('t', 'x')
      await peer.publish('t', 'y')
      await eventually(() => expect([...heard].sort()).toEqual(['1 x', '1 y', '2 x', '2 y']))
    })

    check(open, 'one may unsubscribe itself and others while it is called', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const ended: Promise<void>[] = []
      const first = await pubSub.subscribe('t', (message) => {
        heard.push(`1 ${message}`)
        ended.push(first(), second())
      })
      const second = await pubSub.subscribe('t', () => {})
      await pubSub.subscribe('t', (message) => heard.push(`3 ${message}`))
      await peer.publish('t', 'x')
      await eventually(() => expect([...heard].sort()).toEqual(['1 x', '3 x']))
      await Promise.all(ended)
      await peer.publish('t', 'y')
      await eventually(() => expect(heard).toContain('3 y'))
      expect([...heard].sort()).toEqual(['1 x', '3 x', '3 y'])
    })

    check(open, 'one may publish and subscribe while it is called', async ({ pubSub, peer }) => {
      const heard: string[] = []
      const started: Promise<unknown>[] = []
      await pubSub.subscribe('t', (message) => {
        heard.push(message)
        if (message !== 'x') return
        started.push(pubSub.subscribe('t', (next) => heard.push(`late ${next}`)))
        started.push(peer.publish('t', 'y'))
      })
      await peer.publish('t', 'x')
      await eventually(() => expect(heard.slice(0, 2)).toEqual(['x', expect.stringMatching(/y$/)]))
      await Promise.all(started)
      await peer.publish('t', 'z')
      await eventually(() => expect(heard).toEqual(expect.arrayContaining(['x', 'y', 'z', 'late z'])))
      expect(heard).not.toContain('late x')
    })
  })
}

function testConnection(open: Open): void {
  test('a connection lost and back: the subscriptions are back too', async () => {
    const opened = await open()
    const { pubSub, peer = pubSub } = opened
    if (opened.lose === undefined || opened.restore === undefined) throw new TypeError('open gives no lose and restore')
    const heard: string[] = []
    try {
      const unsubscribe = await pubSub.subscribe('t', (message) => heard.push(`1 ${message}`))
      await pubSub.subscribe('t', (message) => heard.push(`2 ${message}`))
      await opened.lose()
      await unsubscribe()
      await opened.restore()
      const ring = async (): Promise<string[]> => {
        await peer.publish('t', 'x').catch(() => {})
        return heard
      }
      await expect.poll(ring, { timeout: 15_000, interval: 100 }).toContain('2 x')
      expect(heard).not.toContain('1 x')
      heard.length = 0
      await heardBy(pubSub, peer, 't')
      expect(heard.filter((message) => message === '2 fence t')).toHaveLength(1)
    } finally {
      await opened.close()
    }
  }, 60_000)
}

/** Resolves when whatever `peer` has published to the topic so far has reached `pubSub`. */
async function heardBy(pubSub: PubSub, peer: PubSub, topic: string): Promise<void> {
  const heard: string[] = []
  const unsubscribe = await pubSub.subscribe(topic, (message) => heard.push(message))
  await peer.publish(topic, `fence ${topic}`)
  await eventually(() => expect(heard).toContain(`fence ${topic}`))
  await unsubscribe()
}

async function eventually(assertion: () => void): Promise<void> {
  await vi.waitFor(assertion, { timeout: 5_000, interval: 5 })
}
