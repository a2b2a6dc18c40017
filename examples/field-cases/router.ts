import { type Completer, createRouter, Resource, type Router } from 'phantom-mcp'
import type { Counters } from './counters.js'
import { addOddTools } from './odd-tools.js'
import { addTools } from './tools.js'

/**
 * What the fixture contract asks for, each thing as the framework does it by default.
 *
 * Left out until the framework has what they need: the tools ask and ask2 (asking the client), touch (change notices), the
 * capabilities listChanged and subscribe; of the endpoints /team-a and /team-b (auth) and /idle.
 */
export function createFixture(counters: Counters): Router {
  const router = createRouter({ name: 'phantom-mcp-field-cases', version: '1.0.0' })
  addTools(router, counters)
  addOddTools(router, counters)
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

function addResources(router: Router): void {
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

function addReview(router: Router): void {
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
