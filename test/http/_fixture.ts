import { createRouter, field, type Router, type Session } from 'phantom-mcp'

/** A call that stands still until the test says what becomes of it. */
export interface Held {
  readonly session: Session
  /** Lets the handler return. */
  release(text?: string): void
}

/** What the tests serve: its handlers tell what happens to them, and wait where the test holds them. */
export interface Fixture {
  readonly router: Router
  /** Handlers by name that have been entered, in order. */
  readonly entered: string[]
  /** Tags of `hold` calls whose signal was aborted. */
  readonly aborted: string[]
  /** Tags of `hold` calls that have returned. */
  readonly finished: string[]
  /** The `hold` call of this tag, whether it is here already or comes yet. */
  held(tag: string): Promise<Held>
}

export function fixture(): Fixture {
  const entered: string[] = []
  const aborted: string[] = []
  const finished: string[] = []
  const here = new Map<string, Held>()
  const awaited = new Map<string, (held: Held) => void>()
  const router = createRouter({ name: 'fixture', version: '1.0.0', secretKeyBase: 's'.repeat(64) })

  router.tool('echo', { input: { text: field.string({ required: true }) } }, ({ text }) => {
    entered.push('echo')
    return text
  })
  router.tool('noargs', {}, () => {
    entered.push('noargs')
    return 'ok'
  })
  router.tool('größe', {}, () => 'groß')
  router.tool('routed', { inputSchema: ROUTED }, (params) => {
    entered.push('routed')
    return JSON.stringify(params)
  })
  router.tool('hold', { input: { tag: field.string({ required: true }) } }, async ({ tag }, session) => {
    session.signal.addEventListener('abort', () => aborted.push(tag), { once: true })
    const text = await new Promise<string>((resolve, reject) => {
      session.signal.addEventListener('abort', () => reject(session.signal.reason as Error), { once: true })
      const held: Held = { session, release: (said = tag) => resolve(said) }
      here.set(tag, held)
      awaited.get(tag)?.(held)
    })
    finished.push(tag)
    return text
  })
  router.tool('fail', {}, () => {
    throw new Error('secret: /etc/passwd')
  })
  router.resource('notes://plain', { name: 'plain', mimeType: 'text/plain' }, () => 'plain note')
  router.resource('note://ärger/日本', { name: 'anger' }, () => 'far away')
  router.prompt('review', { arguments: { owner: { required: true } } }, ({ owner }) => `Review ${owner}`)

  const held = (tag: string): Promise<Held> => {
    const found = here.get(tag)
    return found === undefined ? new Promise((resolve) => awaited.set(tag, resolve)) : Promise.resolve(found)
  }
  return { router, entered, aborted, finished, held }
}

const ROUTED = {
  type: 'object',
  properties: {
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    region: { type: 'string', 'x-mcp-header': 'Region' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    where: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
  },
  required: ['region'],
} as const
