import { Elicit, field, type Router, type Session, Tool, type ToolResult } from 'phantom-mcp'
import type { Counters } from './counters.js'

const COLOR = Elicit.form({ message: 'Which colour?', fields: { color: field.string({ required: true }) } })
/** Milliseconds that the question is good for where the client carries it. */
const LIFETIME_MS = 3_000
/** Milliseconds that a client has whose session waits for it. */
const PATIENCE_MS = 60_000

/** The tools that ask their client. Nothing of them harms when it runs again. */
export function addAskTools<Assigns extends object>(router: Router<Assigns>, counters: Counters): void {
  for (const name of ['ask', 'ask2']) {
    router.tool(
      name,
      { description: 'Asks for a colour.', input: { note: field.string() }, replay: true },
      (_params, session) => {
        counters.enter(name)
        return counters.during(session.signal, () => ask(session))
      },
    )
  }
}

async function ask(session: Session): Promise<ToolResult> {
  const timeoutMs = session.stateless ? LIFETIME_MS : PATIENCE_MS
  const answer = await session.elicit(COLOR, { timeoutMs })
  switch (answer.action) {
    case 'accept':
      return Tool.text(`colour ${answer.content.color}`)
    case 'decline':
      return Tool.text('The user declined')
    case 'cancel':
      return Tool.text('The user cancelled')
    default:
      return Tool.error(`There is no answer: ${answer.action}`)
  }
}
