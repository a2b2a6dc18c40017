/** One note. */
export interface Note {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly tags: readonly string[]
}

/** Notes in memory: they are gone when the process ends. */
export class Notes {
  readonly #byId = new Map<string, Note>()
  readonly #listeners: ((id: string) => void)[] = []
  #nextId = 1

  /** Called with the id of each note that is added or deleted from here on. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener)
  }

  add(note: Omit<Note, 'id'>): Note {
    const added = { id: String(this.#nextId++), ...note }
    this.#byId.set(added.id, added)
    this.#changed(added.id)
    return added
  }

  get(id: string): Note | undefined {
    return this.#byId.get(id)
  }

  /** Notes that hold the text, in their title or their body, and the tag. */
  search(text: string, tag?: string): Note[] {
    const wanted = text.toLowerCase()
    return this.all().filter(
      (note) =>
        `${note.title}\n${note.text}`.toLowerCase().includes(wanted) && (tag === undefined || note.tags.includes(tag)),
    )
  }

  delete(id: string): boolean {
    const deleted = this.#byId.delete(id)
    if (deleted) this.#changed(id)
    return deleted
  }

  all(): Note[] {
    return [...this.#byId.values()]
  }

  idsStartingWith(start: string): string[] {
    return [...this.#byId.keys()].filter((id) => id.startsWith(start))
  }

  tagsStartingWith(start: string): string[] {
    const tags = new Set(this.all().flatMap((note) => note.tags))
    return [...tags].filter((tag) => tag.startsWith(start)).sort()
  }

  #changed(id: string): void {
    for (const listener of this.#listeners) listener(id)
  }
}

/** A few notes to begin with. */
export function sampleNotes(): Notes {
  const notes = new Notes()
  notes.add({ title: 'Groceries', text: 'Bread, olives, two lemons.', tags: ['home'] })
  notes.add({ title: 'Release plan', text: 'Freeze on Tuesday, publish on Thursday.', tags: ['work', 'plan'] })
  notes.add({ title: 'Reading list', text: 'A Pattern Language; The Soul of a New Machine.', tags: ['home', 'books'] })
  return notes
}

/** A note as a Markdown page. */
export function toMarkdown({ title, text, tags }: Note): string {
  const line = tags.length === 0 ? '' : `\n\nTags: ${tags.join(', ')}`
  return `# ${title}\n\n${text}${line}\n`
}
