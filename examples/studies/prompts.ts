import { Prompt, type Router } from 'phantom-mcp'
import type { Assigns } from './caller.js'
import { studyIds } from './completion.js'
import type { StudiesDatabase } from './database.js'

const DESCRIPTION = `Review the provided Study and provide meaningful feedback about the study, and let me know if there are
gaps or missing questions. We want a meaningful study that can provide insight to the research goals stated in the study.`

/** `suggest_questions`. */
export function addPrompts(router: Router<Assigns>, studies: StudiesDatabase): void {
  router.prompt(
    'suggest_questions',
    {
      title: 'Suggest questions',
      description: DESCRIPTION,
      arguments: {
        study_id: { required: true, description: 'The study to review', complete: studyIds(studies) },
        audience: { description: 'Who is asked' },
      },
    },
    async ({ study_id, audience }, session) => {
      const study = await session.readResource('study', { study_id })
      const cover = studies.cover(session.assigns.user.accountId, Number(study_id))
      return Prompt.response([
        Prompt.assistant(Prompt.embeddedResource(study)),
        ...(cover === undefined ? [] : [Prompt.assistant(Prompt.image(cover, 'image/png'))]),
        Prompt.user(audience === undefined ? 'What is missing?' : `What is missing, asked of ${audience}?`),
      ])
    },
  )
}
