import { createRouter, field, type Router, unauthorized } from 'phantom-mcp'
import { type Tasks, tasks } from 'phantom-mcp/tasks'
import { DRAFTS, type Reports } from './reports.js'

export interface Caller {
  readonly user: string
}

const USERS: ReadonlyMap<string, string> = new Map([
  ['Bearer ada-token', 'ada'],
  ['Bearer bo-token', 'bo'],
])

/** A router whose tasks are jobs. */
export function reportRouter(reports: Reports): { readonly router: Router<Caller>; readonly jobs: Tasks<Caller> } {
  const jobs = tasks<Caller>({
    get: (id, session) => reports.task(id, session.assigns.user),
    // An answer that does not fit is no answer: the question stays open.
    update: async (task, responses) => {
      const answer = await DRAFTS.read(responses['drafts'])
      if (answer !== undefined) await reports.answer(task.id, answer.action === 'accept' && answer.content.drafts)
    },
    cancel: (task) => reports.cancel(task.id),
  })

  const router = createRouter({
    name: 'reports',
    version: '1.0.0',
    extensions: [jobs],
    // The same in all processes: what one of them has asked, another one may be answered.
    secretKeyBase:
      process.env['SECRET_KEY_BASE'] ?? 'for this example only: sixty-four characters that everybody can read',
    connect: (session, request) => {
      const user = USERS.get(request.headers.get('authorization') ?? '')
      return user === undefined ? unauthorized({ method: 'Bearer' }) : session.assign({ user })
    },
    principal: (session) => session.assigns.user,
  })

  router.tool(
    'report',
    {
      description: 'Writes the report of a year.',
      input: { year: field.integer({ required: true }) },
      // Nothing has happened when it asks: another process may begin it again.
      replay: true,
    },
    async ({ year }, session) => {
      const owner = session.assigns.user
      if (jobs.supported(session)) return await reports.task(await reports.order({ owner, year }), owner)

      // Without tasks the call stays open, and there is nobody to ask once the job has it.
      const answer = await session.elicit(DRAFTS)
      const later = session.defer()
      const id = await reports.order({
        owner,
        year,
        drafts: answer.action === 'accept' && answer.content.drafts,
        call: { reply: later.ref, progress: session.progressRef() },
      })
      session.signal.addEventListener('abort', () => void reports.cancel(id).catch(console.error))
      return later
    },
  )
  return { router, jobs }
}
