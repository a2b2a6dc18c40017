import { Prompt, type Router } from 'phantom-mcp'
import type { Notes } from './store.js'

/** The prompts: one about a single note, one about all notes of a tag. */
export function addPrompts(router: Router, notes: Notes): void {
  router.prompt(
    'summarise_note',
    {
      description: 'Ask for a summary of one note.',
      arguments: {
        id: { required: true, description: 'The note', complete: (value) => notes.idsStartingWith(value) },
      },
    },
    async ({ id }, session) =>
      Prompt.response([
        Prompt.user(Prompt.embeddedResource(await session.readResource('note', { id }))),
        Prompt.user('Summarise this note in one sentence.'),
      ]),
  )
  router.prompt(
    'plan_week',
    {
      description: 'Turn the notes of a tag into a plan for the week.',
      arguments: {
        tag: { description: 'All notes when left out', complete: (value) => notes.tagsStartingWith(value) },
      },
    },
    ({ tag }) => {
      const titles = notes.search('', tag).map(({ title }) => `- ${title}`)
      return `Make a plan for my week from these notes:\n${titles.join('\n')}`
    },
  )
}
