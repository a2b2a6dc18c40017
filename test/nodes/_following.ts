import { expect } from 'vitest'
import type { RawSocket } from '../http/_http.js'
import { type Cluster, type ClusterOptions, cluster, type Kind, NodeSession, until } from './_nodes.js'

export const NOTE = 'notes:///n'
export const UPDATED = 'notifications/resources/updated'

export const carries = (stream: RawSocket, text: string): Promise<void> =>
  until(
    () => stream.received.includes(text),
    () => `${text} was expected: ${stream.received}`,
  )

export const countOf = (stream: RawSocket, text: string): number => stream.received.split(text).length - 1

/** The id of the last event of a stream. */
export const lastIdOf = (stream: RawSocket): string =>
  [...stream.received.matchAll(/^id: (.+)$/gm)].at(-1)?.[1]?.trim() ?? ''

/** Ada's session: its stream is on the first node, and what it follows was said to the second. */
export async function following(
  kind: Kind,
  options: ClusterOptions = {},
): Promise<Cluster & { ada: NodeSession; stream: RawSocket }> {
  const made = await cluster(kind, options)
  const [one, two] = made.nodes
  const ada = await NodeSession.begin(two, 'ada')
  const stream = await ada.listen(one)
  await carries(stream, 'id: ')
  expect(await ada.ask(two, 'resources/subscribe', { uri: NOTE })).toMatchObject({ result: {} })
  return { ...made, ada, stream }
}
