import { createRouter, Resource, type Router } from 'phantom-mcp'
import { addPrompts } from './prompts.js'
import { type Notes, sampleNotes, toMarkdown } from './store.js'
import { addTools } from './tools.js'

/** What the notes application offers: tools, prompts, a fixed resource, and a template with a resource for each note. */
export function notesRouter(notes: Notes = sampleNotes()): Router {
  const router: Router = createRouter({
    name: 'notes',
    version: '1.0.0',
    title: 'Notes',
    instructions: 'Keeps short notes. Search before adding one, so that nothing is noted twice.',
    listResources: () => {
      const links = notes
        .all()
        .map(({ id, title }) => Resource.link(router.resourceUri('note', { id }), note, { title }))
      return Resource.list([Resource.link(router.resourceUri('about'), about), ...links])
    },
  })
  const { spec: about } = router.resource(
    'notes://about',
    { name: 'about', title: 'About these notes', mimeType: 'application/json' },
    () => Resource.text({ notes: notes.all().length, tags: notes.tagsStartingWith('') }),
  )
  const { spec: note } = router.resource(
    'notes://note/:id',
    {
      name: 'note',
      description: 'One note as Markdown.',
      mimeType: 'text/markdown',
      complete: { id: (value) => notes.idsStartingWith(value) },
    },
    ({ id }) => {
      const found = notes.get(id)
      return found === undefined ? null : toMarkdown(found)
    },
  )
  addTools(router, notes)
  addPrompts(router, notes)
  return router
}
