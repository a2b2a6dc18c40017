import { setTimeout as sleep } from 'node:timers/promises'
import { Elicit, field, McpError, type Router, Tool } from 'phantom-mcp'
import type { StoredTasks } from 'phantom-mcp/tasks'

const yesOrNo = (message: string) => Elicit.form({ message, fields: { confirm: field.boolean({ required: true }) } })

/** The fixture's tools that answer with tasks. */
export function addJobs(router: Router, jobs: StoredTasks): void {
  router.tool(
    'greet',
    { description: 'Greets at once.', input: { name: field.string({ required: true }) } },
    ({ name }) => `Hello, ${name}!`,
  )
  router.tool(
    'slow_compute',
    {
      description: 'Takes so many seconds.',
      input: { seconds: field.number({ required: true, minimum: 0 }), label: field.string() },
      task: 'optional',
    },
    ({ seconds, label }, session) =>
      jobs.start(session, async ({ signal }) => {
        await sleep(seconds * 1000, undefined, { signal })
        return `${label ?? 'Computed'} after ${seconds} seconds`
      }),
  )
  router.tool(
    'failing_job',
    { description: 'Ends with a failure that the model reads.', task: 'required' },
    (_params, session) => jobs.start(session, () => Tool.error('The job has failed')),
  )
  router.tool(
    'protocol_error_job',
    { description: 'Ends with a protocol error.', task: 'optional' },
    (_params, session) =>
      jobs.start(session, () => {
        throw new McpError('INTERNAL_ERROR', 'The job cannot be done')
      }),
  )
  addAskingJobs(router, jobs)
}

function addAskingJobs(router: Router, jobs: StoredTasks): void {
  router.tool(
    'confirm_delete',
    { description: 'Asks before it deletes.', input: { filename: field.string({ required: true }) }, task: 'optional' },
    ({ filename }, session) =>
      jobs.start(session, async (task) => {
        const answer = await task.ask(yesOrNo(`Delete ${filename}?`))
        return answer.action === 'accept' && answer.content.confirm ? `Deleted ${filename}` : `Kept ${filename}`
      }),
  )
  router.tool('multi_input', { description: 'Asks two things at once.', task: 'optional' }, (_params, session) =>
    jobs.start(session, async (task) => {
      const answers = await Promise.all([task.ask(yesOrNo('The first?')), task.ask(yesOrNo('The second?'))])
      return answers.map(({ action }) => action).join(', ')
    }),
  )
  const name = Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } })
  router.tool(
    'test_tool_with_task',
    { description: 'Asks in the call, then goes on in a task.', task: 'required', replay: true },
    async (_params, session) => {
      const answer = await session.elicit(name, { key: 'user_name' })
      if (answer.action !== 'accept') return Tool.error('Nobody to greet')
      return jobs.start(session, () => `Hello, ${answer.content.name}!`)
    },
  )
}
