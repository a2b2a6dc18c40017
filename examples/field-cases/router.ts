import { type Completer, createRouter, field, Resource, type Router, type Server } from 'phantom-mcp'
import { admit, type Caller } from './access.js'
import { addAskTools } from './ask-tools.js'
import type { Counters } from './counters.js'
import { addOddTools } from './odd-tools.js'
import { addTools } from './tools.js'

const INFO = {
  name: 'phantom-mcp-field-cases',
  version: '1.0.0',
  // Every process of the fixture has the same one, as the nodes of a real server have.
  secretKeyBase: 'the secret that all processes of the fixture share, and that is none',
}

/** What the tools of a fixture count, and the servers whose clients `touch` tells. */
export interface Parts {
  readonly counters: Counters
  readonly servers: readonly Server[]
}

/** What the fixture contract asks for, each thing as the framework does it by default. */
export function createFixture(parts: Parts): Router {
  return addAll(createRouter(INFO), parts)
}

/** The same for those who have a token. */
export function createGuardedFixture(parts: Parts): Router<Caller> {
  return addAll(createRouter({ ...INFO, connect: admit, principal: ({ assigns }) => assigns.subject }), parts)
}

function addAll<Assigns extends object>(router: Router<Assigns>, { counters, servers }: Parts): Router<Assigns> {
  addTools(router, counters)
  addOddTools(router, counters)
  addAskTools(router, counters)
  addTouch(router, { counters, servers })
  addResources(router)
  addReview(router)
  return router
}

/** Seven tools and a prompt, a few to a page. */
export function createPagedFixture(pageSize: number): Router {
  const router = createRouter({ name: 'phantom-mcp-field-cases-paged', version: '1.0.0', pageSize })
  for (let i = 1; i <= 7; i++) router.tool(`p${i}`, { description: `Tool ${i}.` }, () => 'ok')
  router.prompt('only', { description: 'The only prompt.' }, () => 'Say something.')
  return router
}

function addTouch<Assigns extends object>(router: Router<Assigns>, { counters, servers }: Parts): void {
  const announce = {
    tools: (server: Server) => server.notifyToolList(),
    prompts: (server: Server) => server.notifyPromptList(),
    resource: (server: Server) => server.notifyResourcesUpdated(['notes://plain']),
  }
  router.tool(
    'touch',
    {
      description: 'Announces a change.',
      input: { what: field.string({ required: true, in: ['tools', 'prompts', 'resource'] }) },
    },
    async ({ what }) => {
      counters.enter('touch')
      const told = await Promise.all(servers.map(announce[what]))
      return `${told.reduce((sum, one) => sum + one, 0)} told`
    },
  )
}

function addResources<Assigns extends object>(router: Router<Assigns>): void {
  router.resource('notes://plain', { name: 'plain', mimeType: 'text/plain' }, () => 'plain note')
  router.resource('note://ärger/日本', { name: 'non-ascii', mimeType: 'text/plain' }, () => 'Ärger')
  router.resource('notes://topic/static', { name: 'static-topic', mimeType: 'text/plain' }, () => 'STATIC')
  router.resource('notes://topic/{t}', { name: 'topic' }, (params) => Resource.text(params))
  router.resource('shop://items{?q,page}', { name: 'items' }, (params) => Resource.text(params))
}

const OWNERS = ['acme', 'zed-co']
/** More than an answer may hold. */
const CROWD = Array.from({ length: 250 }, (_, i) => `many${i}`)

const completeOwner: Completer = (value) =>
  value === 'many' ? CROWD : OWNERS.filter((owner) => owner.startsWith(value))

const completeRepo: Completer = (_value, _session, { owner }) =>
  owner === 'zed-co' ? ['zed-apple', 'zed-axe'] : ['any']

function addReview<Assigns extends object>(router: Router<Assigns>): void {
  router.prompt(
    'review',
    {
      description: 'Reviews a repository.',
      arguments: {
        owner: { required: true, complete: completeOwner },
        repo: { required: true, complete: completeRepo },
      },
    },
    ({ owner, repo }) => `Review ${owner}/${repo}.`,
  )
}
