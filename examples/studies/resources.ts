import { Resource, type Router } from 'phantom-mcp'
import type { Assigns } from './caller.js'
import { studyIds } from './completion.js'
import { type StudiesDatabase, toMarkdown } from './database.js'

/** `study`, `study_cover` and `question`; null is for what the caller's account does not have. */
export function addResources(router: Router<Assigns>, studies: StudiesDatabase): void {
  router.resource(
    'https://example.com/studies/:study_id/md',
    {
      name: 'study',
      description:
        'Read the contents of a study. This includes the questions and general context, which is helpful for understanding research goals.',
      mimeType: 'text/markdown',
      complete: studyIds(studies),
    },
    ({ study_id }, session) => {
      const study = studies.study(session.assigns.user.accountId, Number(study_id))
      return study === undefined ? null : Resource.text(toMarkdown(study, studies.questions(study.id)))
    },
  )
  router.resource(
    'myapp:///studies/:study_id/cover',
    {
      name: 'study_cover',
      description:
        'Read the cover image of a Study to gain some context of the audience, research goals, and questions.',
      mimeType: 'image/png',
      complete: { study_id: studyIds(studies) },
    },
    ({ study_id }, session) => {
      const cover = studies.cover(session.assigns.user.accountId, Number(study_id))
      return cover === undefined ? null : Resource.blob(cover)
    },
  )
  router.resource(
    'myapp:///questions/:question_id',
    { name: 'question', description: 'One question of a study.', mimeType: 'application/json' },
    ({ question_id }, session) => {
      const question = studies.question(session.assigns.user.accountId, Number(question_id))
      return question === undefined ? null : Resource.text(question)
    },
  )
}
