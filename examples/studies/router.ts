import { createRouter, McpError, Resource, type Router } from 'phantom-mcp'
import { type Assigns, admit } from './caller.js'
import type { StudiesDatabase } from './database.js'
import { addPrompts } from './prompts.js'
import { addResources } from './resources.js'
import { addTools } from './tools.js'

const PAGE = 50

/** Tools, prompts and resources for research studies, for those whom the database knows. */
export function studiesRouter(studies: StudiesDatabase): Router<Assigns> {
  const router: Router<Assigns> = createRouter({
    name: 'MyApp',
    version: '1.0.0',
    instructions: 'Tools, prompts and resources for researching topics and for creating research studies.',
    connect: (session, request) => admit(studies, session, request),
    principal: (session) => session.assigns.user.id,
    // The list is by key, not by offset: a study that is added or removed meanwhile shifts nothing.
    listResources(cursor, session) {
      const { accountId } = session.assigns.user
      const found = studies.studiesAfter(accountId, cursor === undefined ? 0 : idOf(cursor), PAGE + 1)
      const page = found.slice(0, PAGE)
      const links = page.flatMap(({ id, title }) => {
        const target = router.resourceFor(session, 'study', { study_id: id })
        return target === undefined ? [] : [Resource.link(target.uri, target.template, { title })]
      })
      const last = page.at(-1)
      return Resource.list(links, last !== undefined && found.length > PAGE ? toCursor(last.id) : undefined)
    },
    authorizeResourceSubscriptions(resources, session) {
      const idIn = (params: Readonly<Record<string, unknown>>): number => Number(params['study_id'])
      const owned = studies.ownedOf(
        session.assigns.user.accountId,
        resources.map(({ params }) => idIn(params)),
      )
      return resources.filter(({ params }) => owned.has(idIn(params)))
    },
  })
  addTools(router, studies)
  addPrompts(router, studies)
  addResources(router, studies)
  return router
}

function toCursor(id: number): string {
  return Buffer.from(`after ${id}`).toString('base64url')
}

function idOf(cursor: string): number {
  const [, digits] = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (digits === undefined) throw new McpError('INVALID_PARAMS', 'The cursor is not one of this list')
  return Number(digits)
}
