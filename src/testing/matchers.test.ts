import { createRouter, McpError, Prompt, Resource, Tool } from 'phantom-mcp'
import { connect, RpcError, type TestClient } from 'phantom-mcp/testing'
import { matchers } from 'phantom-mcp/testing/vitest'
import { beforeAll, describe, expect, test } from 'vitest'

expect.extend(matchers)

const PICTURE = new Uint8Array([1, 2, 3])
const CONTENTS = { uri: 'notes://1', text: 'Milk', mimeType: 'text/plain' }

const router = createRouter({ name: 'all', version: '1.0.0' })
router.tool('all', {}, () =>
  Tool.content(
    [
      Tool.text('Hello Ada'),
      Tool.image(PICTURE, 'image/png'),
      Tool.audio(PICTURE, 'audio/wav'),
      Tool.resourceLink('notes://2', { name: 'two', mimeType: 'text/plain' }),
      Tool.embeddedResource(CONTENTS),
    ],
    { structured: { total: 1, at: '2026-01-01' } },
  ),
)
router.tool('greet', {}, () => 'Hello Ada')
router.tool('nothing', {}, () => undefined)
router.tool('fails', {}, () => Tool.error('No such note'))
router.tool('refuses', {}, () => {
  throw new McpError('INVALID_PARAMS', 'The note is archived', { data: { reason: 'archived', id: 7 } })
})
router.tool('tells', {}, async (_params, session) => {
  await session.notifyProgress(1, 2, 'Halfway')
  await session.log.warning({ disk: 'full' }, 'store')
  return 'told'
})
router.prompt('review', {}, () => Prompt.response([Prompt.user('What is missing?'), Prompt.assistant('Let me see.')]))
router.resource('notes://1', { name: 'one', mimeType: 'text/plain' }, () => [
  Resource.text('Milk'),
  Resource.blob(PICTURE),
])

let client: TestClient
beforeAll(async () => {
  client = await connect(router, { logLevel: 'info' })
})

/** What a failed expectation says. */
function failure(expectation: () => void): string {
  try {
    expectation()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing failed'
}

describe('tools', () => {
  test('text', async () => {
    const result = await client.callTool('all')
    expect(result).toHaveText('Hello Ada')
    expect(result).toHaveText(/^Hello/g)
    expect(result).toHaveText(/^Hello/g)
    expect(result).toHaveText(expect.stringContaining('Ada'))
    expect(result).not.toHaveText('Hello')
    expect(await client.callTool('fails')).not.toHaveText('No such note')
    expect(await client.callTool('nothing')).not.toHaveText('')
  })

  test('text, when it fails', async () => {
    const one = await client.callTool('greet')
    expect(failure(() => expect(one).toHaveText('Hello Bob'))).toBe(
      'expected the result to have the text "Hello Bob"\n\nThere is:\n- text "Hello Ada"',
    )
    expect(failure(() => expect(one).not.toHaveText(/Ada/))).toBe(
      'expected the result not to have the text /Ada/\n\nThere is:\n- text "Hello Ada"',
    )
    const nothing = await client.callTool('nothing')
    expect(failure(() => expect(nothing).toHaveText('x'))).toBe(
      'expected the result to have the text "x"\n\nThere is: nothing',
    )
    const failed = await client.callTool('fails')
    expect(failure(() => expect(failed).toHaveText('No such note'))).toBe(
      'expected the result to have the text "No such note"\n\nThere is:\n- an error with text "No such note"',
    )
    expect(matchers.toHaveText.call({ isNot: false, equals: Object.is }, one, 'Hello Bob')).toMatchObject({
      actual: 'Hello Ada',
      expected: 'Hello Bob',
    })
  })

  test('an error for the model', async () => {
    const failed = await client.callTool('fails')
    expect(failed).toBeToolError()
    expect(failed).toBeToolError(/note$/)
    expect(failed).not.toBeToolError('No such')
    const fine = await client.callTool('greet')
    expect(fine).not.toBeToolError()
    expect(failure(() => expect(fine).toBeToolError())).toBe(
      'expected the result to be an error of the tool\n\nThere is:\n- text "Hello Ada"',
    )
    expect(failure(() => expect(failed).toBeToolError('Gone'))).toContain('with the text "Gone"')
  })

  test('images and sounds', async () => {
    const result = await client.callTool('all')
    expect(result).toHaveImage()
    expect(result).toHaveImage({ data: PICTURE })
    expect(result).toHaveImage({ data: 'AQID', mimeType: /^image/ })
    expect(result).not.toHaveImage({ data: new Uint8Array([1]) })
    expect(result).not.toHaveImage({ mimeType: 'audio/wav' })
    expect(result).toHaveAudio({ data: PICTURE, mimeType: 'audio/wav' })
    expect(result).not.toHaveAudio({ mimeType: 'audio/mp3' })
    const none = await client.callTool('greet')
    expect(none).not.toHaveImage()
    expect(none).not.toHaveAudio()
    expect(failure(() => expect(none).toHaveAudio())).toContain('expected the result to have a sound\n')
    expect(failure(() => expect(result).toHaveImage({ mimeType: 'image/gif' }))).toContain(
      'to have an image with {"mimeType":"image/gif"}\n\nThere is:\n- text "Hello Ada"\n- image image/png, 4 characters',
    )
  })

  test('resources, linked and embedded', async () => {
    const result = await client.callTool('all')
    expect(result).toHaveResourceLink('notes://2')
    expect(result).toHaveResourceLink({ name: 'two', uri: /2$/ })
    expect(result).not.toHaveResourceLink('notes://1')
    expect(result).toHaveEmbeddedResource('notes://1')
    expect(result).toHaveEmbeddedResource({ text: /Milk/, mimeType: 'text/plain' })
    expect(result).not.toHaveEmbeddedResource('notes://2')
    expect(failure(() => expect(result).toHaveResourceLink({ uri: /3$/ }))).toContain(
      'expected the result to have a resource link with {"uri":"/3$/"}',
    )
    expect(failure(() => expect(result).toHaveEmbeddedResource('x:y'))).toContain(
      '- resource {"uri":"notes://1","text":"Milk","mimeType":"text/plain"}',
    )
  })

  test('structured content', async () => {
    const result = await client.callTool('all')
    expect(result).toHaveStructuredContent()
    expect(result).toHaveStructuredContent({ total: 1, at: expect.any(String) })
    expect(result).not.toHaveStructuredContent({ total: 1 })
    expect(result).not.toHaveStructuredContent(undefined)
    const text = await client.callTool('greet')
    expect(text).not.toHaveStructuredContent()
    expect(text).not.toHaveStructuredContent(undefined)
    expect(failure(() => expect(result).toHaveStructuredContent({ total: 2 }))).toBe(
      'expected the result to have the structured content {"total":2}\n\nThere is:\n- structured content {"total":1,"at":"2026-01-01"}',
    )
  })

  test('what is no result satisfies nothing, negated or not', async () => {
    const pending = client.callTool('greet')
    expect(() => expect(pending).not.toHaveText('x')).toThrow(
      'toHaveText needs what callTool gave, which has content, not a promise. Await it.',
    )
    await pending
    expect(() => expect(undefined).not.toHaveImage()).toThrow(
      'toHaveImage needs what callTool gave, which has content, not undefined.',
    )
    expect(() => expect({}).not.toHaveStructuredContent()).toThrow('toHaveStructuredContent needs what callTool gave')
    expect(() => expect([]).not.toHaveResourceText('x')).toThrow('toHaveResourceText needs what readResource gave')
    expect(() => expect(null).not.toHavePromptMessage('x')).toThrow('toHavePromptMessage needs what getPrompt gave')
    expect(() => expect({}).not.toHaveSeenLog()).toThrow('toHaveSeenLog needs a client of connect')
    expect(() => expect(undefined).not.toRequireElicitation()).toThrow('toRequireElicitation needs what a call gave')
  })
})

test('resources', async () => {
  const read = await client.readResource('notes://1')
  expect(read).toHaveResourceText('Milk')
  expect(read).toHaveResourceText(/ilk/, 'notes://1')
  expect(read).not.toHaveResourceText('Milk', 'notes://2')
  expect(read).not.toHaveResourceText('Bread')
  expect(read).toHaveResourceBlob(PICTURE)
  expect(read).toHaveResourceBlob('AQID', /^notes:/)
  expect(read).not.toHaveResourceBlob(new Uint8Array([9]))
  expect(failure(() => expect(read).toHaveResourceText('Bread', 'notes://1'))).toContain(
    'expected the result to have the text "Bread" of "notes://1"\n\nThere is:\n- {"uri":"notes://1"',
  )
})

test('prompts', async () => {
  const prompt = await client.getPrompt('review')
  expect(prompt).toHavePromptMessage('What is missing?')
  expect(prompt).toHavePromptMessage(/see/, 'assistant')
  expect(prompt).toHavePromptMessage({ type: 'text', text: 'Let me see.' })
  expect(prompt).not.toHavePromptMessage('What is missing?', 'assistant')
  expect(prompt).not.toHavePromptMessage('What')
  expect(failure(() => expect(prompt).toHavePromptMessage('Hi', 'user'))).toBe(
    'expected the result to have a message of the user with "Hi"\n\nThere is:\n- user: text "What is missing?"\n- assistant: text "Let me see."',
  )
})

test('JSON-RPC errors', async () => {
  const refused = client.callTool('refuses')
  await expect(refused).rejects.toBeRpcError()
  await expect(refused).rejects.toBeRpcError(-32602)
  await expect(refused).rejects.toBeRpcError({ code: -32602, reason: 'archived', message: /archived$/ })
  await expect(refused).rejects.toBeRpcError({ data: expect.objectContaining({ id: 7 }) })
  await expect(refused).rejects.not.toBeRpcError(-32603)
  await expect(refused).rejects.not.toBeRpcError({ reason: 'expired' })
  expect(new Error('boom')).not.toBeRpcError()
  expect({ code: -32602 }).not.toBeRpcError(-32602)
  const error = await refused.catch((thrown: unknown) => thrown)
  expect(failure(() => expect(error).toBeRpcError({ code: -32603 }))).toBe(
    'expected it to be a JSON-RPC error with {"code":-32603}\n\nThere is:\n- {"code":-32602,"message":"The note is archived","data":{"reason":"archived","id":7},"reason":"archived"}',
  )
  expect(failure(() => expect(new Error('boom')).toBeRpcError())).toBe(
    'expected it to be a JSON-RPC error\n\nThere is:\n- Error: boom',
  )
})

test('elicitations that are required, in both forms of the protocol', () => {
  const page = { mode: 'url', url: 'https://example.com/connect', message: 'Connect' }
  const error = new RpcError({
    code: -32042,
    message: 'Needed',
    data: { elicitations: [{ ...page, elicitationId: '1' }] },
  })
  const params = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } }
  const inputRequests = {
    name: { method: 'elicitation/create', params },
    page: { method: 'elicitation/create', params: page },
    city: { method: 'sampling/createMessage', params: { message: 'Sampled', messages: [], maxTokens: 1 } },
  }
  const result = { resultType: 'input_required', inputRequests }
  for (const received of [error, result]) {
    expect(received).toRequireElicitation()
    expect(received).toRequireElicitation({ mode: 'url', url: /example\.com/, message: 'Connect' })
    expect(received).not.toRequireElicitation({ url: 'https://example.com' })
  }
  expect(result).toRequireElicitation({ mode: 'form', message: 'Name?' })
  expect(error).not.toRequireElicitation({ mode: 'form' })
  expect(result).not.toRequireElicitation({ message: 'Sampled' })
  expect({ resultType: 'complete', content: [] }).not.toRequireElicitation()
  expect(new RpcError({ code: -32602, message: 'No', data: { elicitations: [page] } })).not.toRequireElicitation()
  expect(failure(() => expect(error).toRequireElicitation({ message: 'Pay' }))).toBe(
    'expected the call to require an elicitation with {"message":"Pay"}\n\nThere is:\n- elicitation {"mode":"url","url":"https://example.com/connect","message":"Connect","elicitationId":"1"}',
  )
  expect(failure(() => expect({ content: [] }).toRequireElicitation())).toBe(
    'expected the call to require an elicitation\n\nThere is:\n- {"content":[]}',
  )
})

test('progress and logs', async () => {
  const listener = await connect(router, { logLevel: 'info' })
  expect(listener).not.toHaveSeenProgress()
  expect(listener).not.toHaveSeenLog()
  await listener.callTool('tells', {}, { progressToken: 'p' })
  expect(listener).toHaveSeenProgress()
  expect(listener).toHaveSeenProgress({ progress: 1, total: 2, message: /^Half/, progressToken: 'p' })
  expect(listener).not.toHaveSeenProgress({ progress: 2 })
  expect(listener).toHaveSeenLog({ level: 'warning', data: { disk: 'full' }, logger: 'store' })
  expect(listener).not.toHaveSeenLog({ level: 'error' })
  expect(failure(() => expect(listener).toHaveSeenLog({ level: 'error' }))).toContain(
    'expected the client to have seen a log message with {"level":"error"}\n\nThere is:\n- {"level":"warning"',
  )
  expect(failure(() => expect(listener).not.toHaveSeenProgress())).toContain(
    'expected the client not to have seen progress\n',
  )
  await listener.close()
})
