import { createRouter, type Fields, field, type Router } from 'phantom-mcp'

/** Ten fields of the kinds that tools have. */
export function tenFields(): Fields {
  return {
    query: field.string({ required: true, description: 'What to look for.', maxLength: 200 }),
    status: field.string({ in: ['draft', 'active', 'archived'], description: 'Only those of this status.' }),
    owner: field.string({ format: 'email', description: 'Only those of this owner.' }),
    limit: field.integer({ minimum: 1, maximum: 100, description: 'How many to give back.' }),
    offset: field.integer({ minimum: 0, description: 'How many to skip.' }),
    score: field.number({ minimum: 0, maximum: 1, description: 'The least score.' }),
    archived: field.boolean({ description: 'Whether archived ones count.' }),
    tags: field.array(field.string({ minLength: 1 }), { maxLength: 10, description: 'All of these tags.' }),
    filters: field.map({ category: field.string(), price: field.number({ minimum: 0 }) }),
    note: field.string({ nullable: true, description: 'A remark that is kept with the search.' }),
  }
}

/** What fits {@link tenFields}. */
export const TEN_VALUES: Readonly<Record<string, unknown>> = {
  query: 'quarterly report',
  status: 'active',
  owner: 'ada@example.com',
  limit: 20,
  offset: 40,
  score: 0.75,
  archived: false,
  tags: ['finance', 'public', '2026'],
  filters: { category: 'reports', price: 12.5 },
  note: null,
}

/** A router with so many tools of ten fields, all on one page of the list. */
export function manyTools(count: number): Router {
  const router = createRouter({ name: 'bench', version: '1.0.0', pageSize: count })
  for (let index = 0; index < count; index++) {
    const options = { description: `Searches collection ${index}.`, input: tenFields() }
    router.tool(`search_${index}`, options, () => 'found')
  }
  return router
}
