import { createRouter, Elicit, field, Tool } from 'phantom-mcp'
import { expect, test } from 'vitest'
import { describeMatrix } from '../_setup.js'

const SECRET = 's'.repeat(64)
describeMatrix('asking', {}, (setup, cell) => {
  test('inline', async () => {
    const router = createRouter({ name: 'asking', version: '1.0.0', secretKeyBase: SECRET })
    router.tool('hello', {}, async (_params, session) => {
      const answer = await session.elicit(
        Elicit.form({ message: 'Your name?', fields: { name: field.string({ required: true }) } }),
      )
      switch (answer.action) {
        case 'accept':
          return `Hello ${answer.content.name}`
        case 'unsupported':
          return 'Hello stranger'
        case 'error':
          throw answer.error
        default:
          return Tool.error('Cancelled')
      }
    })
    const client = await setup(router, { elicit: () => ({ name: 'Ada' }) })
    const result = await client.callTool('hello')
    expect(result.content).toEqual([{ type: 'text', text: cell.version < '2025-06-18' ? 'Hello stranger' : 'Hello Ada' }])
  })
})
