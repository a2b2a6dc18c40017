import { connect } from 'phantom-mcp/testing'
import { manyTools } from '../many-tools.js'
import type { Pair } from '../timing.js'

const TOOLS = 1000

/** Making a router of 1,000 tools, fields and all, against writing their schemas as JSON. */
export async function makePair(): Promise<Pair> {
  const client = await connect(manyTools(TOOLS))
  const { tools } = (await client.list('tools')) as unknown as { tools: readonly { inputSchema: object }[] }
  const schemas = tools.map(({ inputSchema }) => inputSchema)
  if (schemas.length !== TOOLS) throw new Error(`${TOOLS} schemas were expected, not ${schemas.length}`)
  return {
    ours: () => void manyTools(TOOLS),
    theirs: () => {
      for (const schema of schemas) JSON.stringify(schema)
    },
    calls: 2,
  }
}
