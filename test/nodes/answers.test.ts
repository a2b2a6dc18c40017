import { expect, test } from 'vitest'
import { legacy, open, textOf } from '../http/_http.js'
import { holding, node } from './_near-nodes.js'

test('an answer to a question is taken when the node that has asked is sure to get it', async () => {
  const { backplane, refuse } = holding()
  const [one, two] = [await node(backplane, 'one'), await node(backplane, 'two')]
  const capabilities = { elicitation: {} }
  const clientInfo = { name: 'probe', version: '0' }
  const begun = await open(one.port, legacy('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo }))
  await textOf(begun)
  const headers = { 'mcp-session-id': String(begun.headers['mcp-session-id']) }
  const call = await open(one.port, legacy('tools/call', { name: 'ask', arguments: {} }, { headers }))
  let said = ''
  call.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said).toContain('elicitation/create')
  const id = /"id":"([^"]+)","method":"elicitation/.exec(said)?.[1]
  const answer = { jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } }
  const post = async (): Promise<{ status: number | undefined; text: string }> => {
    const response = await open(two.port, { ...legacy('', {}, { headers }), body: JSON.stringify(answer) })
    return { status: response.statusCode, text: await textOf(response) }
  }
  const back = refuse('"type":"response"')
  const refused = await post()
  expect(refused.status).toBe(503)
  expect(refused.text).toContain('"retryable":true')
  back()
  expect(await post()).toEqual({ status: 202, text: '' })
  await expect.poll(() => said).toContain('Hello Ada')
})
