import { field, type Router, Tool } from 'phantom-mcp'
import type { Assigns } from './caller.js'
import { STATUSES, type StudiesDatabase } from './database.js'

/** `create_question` and `search_studies`. */
export function addTools(router: Router<Assigns>, studies: StudiesDatabase): void {
  router.tool(
    'create_question',
    {
      title: 'Create a question',
      description: 'Create a question for the provided Study.',
      input: {
        study_id: field.integer({ required: true, minimum: 1, description: 'The unique identifier for the Study' }),
        label: field.string({ required: true, minLength: 1, maxLength: 80, description: 'The title of the Question' }),
        description: field.string({
          required: true,
          description: 'About one paragraph of detail that defines the question',
        }),
      },
      destructive: false,
      openWorld: false,
    },
    ({ study_id, label, description }, session) => {
      const { accountId } = session.assigns.user
      const question = studies.addQuestion(accountId, { studyId: study_id, label, description })
      if (question === undefined) {
        return Tool.error(
          `Study ${study_id} takes no question "${label}": it is not there, archived, or has it already.`,
        )
      }
      // A basic plan sees studies, but no question by itself.
      const target =
        router.resourceFor(session, 'question', { question_id: question.id }) ??
        router.resourceFor(session, 'study', { study_id })
      const told = Tool.text(`Question ${question.id} was added to study ${study_id}.`)
      return target === undefined
        ? told
        : Tool.content([told, Tool.resourceLink(target.uri, target.template, { title: label })])
    },
  )

  router.tool(
    'search_studies',
    {
      title: 'Search studies',
      description: 'Search for studies.',
      input: {
        query: field.string({ required: true, description: 'A part of the title or the goal' }),
        limit: field.integer({ default: 10, minimum: 1, maximum: 100 }),
        status: field.string({ in: STATUSES }),
        tags: field.array(field.string({ pattern: /^[a-z]+$/, message: 'must be a lower-case word' }), {
          maxLength: 5,
        }),
        filters: field.map({ category: field.string(), min_price: field.number({ minimum: 0 }) }),
      },
      output: {
        total: field.integer({ required: true }),
        studies: field.array(
          field.map({
            id: field.integer({ required: true }),
            title: field.string({ required: true }),
            status: field.string({ in: STATUSES, required: true }),
            price: field.number({ required: true }),
            uri: field.string({ format: 'uri' }),
          }),
          { required: true },
        ),
      },
      readOnly: true,
      openWorld: false,
      timeoutMs: 10_000,
      maxConcurrency: 8,
    },
    (search, session) => {
      const found = studies.search(session.assigns.user.accountId, search)
      return {
        total: found.total,
        studies: found.studies.map(({ id, title, status, price }) => {
          const target = router.resourceFor(session, 'study', { study_id: id })
          return { id, title, status, price, ...(target === undefined ? {} : { uri: target.uri }) }
        }),
      }
    },
  )
}
