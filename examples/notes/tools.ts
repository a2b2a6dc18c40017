import { setTimeout as sleep } from 'node:timers/promises'
import { Elicit, field, type Router, Tool } from 'phantom-mcp'
import { type Notes, toMarkdown } from './store.js'

/** The tools: add, search and delete a note, and export all of them. */
export function addTools(router: Router, notes: Notes): void {
  router.tool(
    'add_note',
    {
      description: 'Add a note.',
      input: {
        title: field.string({ required: true, minLength: 1, maxLength: 80 }),
        text: field.string({ required: true }),
        tags: field.array(field.string({ pattern: /^[a-z0-9-]+$/ }), { default: [], maxLength: 5 }),
      },
      output: { id: field.string({ required: true }), uri: field.string({ required: true }) },
      destructive: false,
      openWorld: false,
    },
    (note) => {
      const { id } = notes.add(note)
      return { id, uri: router.resourceUri('note', { id }) }
    },
  )
  router.tool(
    'search_notes',
    {
      description: 'Find notes by a part of their title or text.',
      input: {
        text: field.string({ default: '', description: 'Any note when left out.' }),
        tag: field.string({ description: 'Only notes with this tag.' }),
        limit: field.integer({ default: 10, minimum: 1, maximum: 50 }),
      },
      readOnly: true,
      openWorld: false,
    },
    ({ text, tag, limit }, session) => {
      const found = notes.search(text, tag).slice(0, limit)
      if (found.length === 0) return 'No note was found.'
      const links = found.flatMap(({ id, title }) => {
        const target = router.resourceFor(session, 'note', { id })
        return target === undefined ? [] : [Tool.resourceLink(target.uri, target.template, { title })]
      })
      return Tool.content([Tool.text(found.map(({ id, title }) => `${id}: ${title}`).join('\n')), ...links])
    },
  )
  router.tool(
    'delete_note',
    {
      description: 'Delete a note, once the user has confirmed it where the client can ask them.',
      input: { id: field.string({ required: true }) },
      destructive: true,
      idempotent: true,
      openWorld: false,
    },
    async ({ id }, session) => {
      const note = notes.get(id)
      if (note === undefined) return Tool.error(`There is no note ${id}.`)
      const fields = { sure: field.boolean({ required: true, title: 'Delete it' }) }
      const answer = await session.elicit(Elicit.form({ message: `Really delete "${note.title}"?`, fields }))
      const agreed = answer.action === 'accept' ? answer.content.sure : answer.action === 'unsupported'
      if (!agreed) return Tool.error(`Note ${id} is kept.`)
      notes.delete(id)
      return `Note ${id} is deleted.`
    },
  )
  addExport(router, notes)
}

function addExport(router: Router, notes: Notes): void {
  router.tool(
    'export_notes',
    {
      description: 'Export all notes as one Markdown document, slowly, so that progress and cancelling can be seen.',
      input: { delay_ms: field.integer({ default: 200, minimum: 0, maximum: 5_000, description: 'For each note.' }) },
      readOnly: true,
      openWorld: false,
    },
    async ({ delay_ms }, session) => {
      const all = notes.all()
      const pages: string[] = []
      for (const note of all) {
        await sleep(delay_ms, undefined, { signal: session.signal })
        pages.push(toMarkdown(note))
        await session.notifyProgress(pages.length, all.length, note.title)
      }
      await session.log.info({ exported: pages.length }, 'export')
      return pages.join('\n')
    },
  )
}
