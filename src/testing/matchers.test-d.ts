import { connect } from 'phantom-mcp/testing'
import { matchers } from 'phantom-mcp/testing/vitest'
import { expect, expectTypeOf, test } from 'vitest'

test('the matchers fit what expect.extend takes, and expect has them', async () => {
  expect.extend(matchers)
  const client = await connect({} as Parameters<typeof connect>[0])
  expectTypeOf(expect(client).toHaveSeenLog({ level: 'error' })).toEqualTypeOf<void>()
  expectTypeOf(expect(client.callTool('a')).rejects.toBeRpcError(-32602)).toEqualTypeOf<Promise<void>>()
  expect(client).not.toHaveSeenProgress({ progress: 1 })
  // @ts-expect-error a text is needed
  expect({}).toHaveText()
  // @ts-expect-error a level that is none
  expect(client).toHaveSeenLog({ level: 'loud' })
  // @ts-expect-error a member that is misspelt
  expect(client).toHaveSeenProgress({ progres: 1 })
})
