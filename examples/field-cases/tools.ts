import { setTimeout as sleep } from 'node:timers/promises'
import { field, type Router, type Session } from 'phantom-mcp'
import type { Counters } from './counters.js'
import { REGION_SCHEMA, SHARED_SCHEMA, TREE_SCHEMA, type TreeNode } from './schemas.js'

/** The tools that answer what they were asked. */
export function addTools<Assigns extends object>(router: Router<Assigns>, counters: Counters): void {
  addPlainTools(router, counters)
  addSchemaTools(router, counters)
  addCallTools(router, counters)
}

function addPlainTools<Assigns extends object>(router: Router<Assigns>, counters: Counters): void {
  router.tool(
    'echo',
    { description: 'Returns the text.', input: { text: field.string({ required: true }) } },
    (params) => {
      counters.enter('echo')
      return params.text
    },
  )
  for (const name of ['noargs', 'größe']) {
    router.tool(name, { description: 'Takes nothing.' }, () => {
      counters.enter(name)
      return 'ok'
    })
  }
  router.tool(
    'opts',
    { description: 'Returns its arguments.', input: { limit: field.integer(), tag: field.string() } },
    (params) => {
      counters.enter('opts')
      return JSON.stringify(params)
    },
  )
  router.tool('wipe', { description: 'Wipes.' }, () => {
    counters.enter('wipe')
    return 'wiped'
  })
  router.tool('stats', { description: 'Returns the counters.' }, () => JSON.stringify(counters))
}

function addSchemaTools<Assigns extends object>(router: Router<Assigns>, counters: Counters): void {
  router.tool('tree', { description: 'Measures a tree.', inputSchema: TREE_SCHEMA }, (params) => {
    counters.enter('tree')
    return String(depthOf(params['node'] as TreeNode))
  })
  router.tool('shared', { description: 'Returns its arguments.', inputSchema: SHARED_SCHEMA }, (params) => {
    counters.enter('shared')
    return JSON.stringify(params)
  })
  router.tool('routed', { description: 'Has arguments in headers.', inputSchema: REGION_SCHEMA }, (params) => {
    counters.enter('routed')
    return JSON.stringify(params)
  })
}

function depthOf({ kids = [] }: TreeNode): number {
  return 1 + Math.max(0, ...kids.map(depthOf))
}

function addCallTools<Assigns extends object>(router: Router<Assigns>, counters: Counters): void {
  router.tool(
    'slow',
    {
      description: 'Waits, reporting progress after each of its steps.',
      input: {
        ms: field.integer({ required: true }),
        tag: field.string({ required: true }),
        steps: field.integer(),
      },
    },
    (params, session) => {
      counters.enter('slow')
      return counters.during(session.signal, () => waitInSteps(params, session))
    },
  )
  router.tool(
    'logger',
    { description: 'Logs twice.', input: { tag: field.string({ required: true }) } },
    async ({ tag }, session) => {
      counters.enter('logger')
      await session.log.info(`${tag} info`)
      await session.log.error(`${tag} error`)
      return 'ok'
    },
  )
}

interface SlowParams {
  readonly ms: number
  readonly tag: string
  readonly steps?: number | undefined
}

async function waitInSteps({ ms, tag, steps }: SlowParams, session: Session): Promise<string> {
  const parts = steps ?? 1
  for (let part = 1; part <= parts; part++) {
    await sleep(ms / parts, undefined, { signal: session.signal })
    if (steps !== undefined) await session.notifyProgress(part, steps)
  }
  return tag
}
