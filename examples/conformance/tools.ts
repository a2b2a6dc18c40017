import { setTimeout as sleep } from 'node:timers/promises'
import { field, type Router, type Server, Tool } from 'phantom-mcp'
import { PIXEL, SILENCE } from './media.js'
import { ADDRESS_SCHEMA } from './schema.js'

/**
 * The fixture's tools, one without arguments first: a scenario calls whichever is listed first with none. Those that ask the
 * client are in asking.ts; the tools of tasks-* are left out, because the framework does not have what they need.
 */
export function addTools(router: Router, server: Server): void {
  addContentTools(router)
  addNotifyingTools(router)
  addStreamTools(router)
  addTriggers(router, server)
  router.tool(
    'json_schema_2020_12_tool',
    { description: 'Has an input schema that uses much of JSON Schema 2020-12.', inputSchema: ADDRESS_SCHEMA },
    (params) => `Received ${JSON.stringify(params)}`,
  )
  router.tool(
    'test_x_mcp_header',
    {
      description: 'Has an argument that clients repeat in the header Mcp-Param-Region.',
      inputSchema: {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
        required: ['region'],
      },
    },
    ({ region }) => `Region ${region}`,
  )
  router.tool(
    'add_numbers',
    {
      description: 'Adds two numbers.',
      input: { a: field.number({ required: true }), b: field.number({ required: true }) },
      output: { sum: field.number({ required: true }) },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
}

function addContentTools(router: Router): void {
  const note = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource.' }
  router.tool('test_simple_text', { description: 'Returns text.' }, () => 'This is a simple text response for testing.')
  router.tool('test_image_content', { description: 'Returns an image.' }, () => Tool.image(PIXEL, 'image/png'))
  router.tool('test_audio_content', { description: 'Returns a sound.' }, () => Tool.audio(SILENCE, 'audio/wav'))
  router.tool('test_embedded_resource', { description: 'Returns an embedded resource.' }, () =>
    Tool.embeddedResource(note),
  )
  router.tool('test_multiple_content_types', { description: 'Returns text, an image and a resource.' }, () =>
    Tool.content([
      Tool.text('Multiple content types test:'),
      Tool.image(PIXEL, 'image/png'),
      Tool.embeddedResource({
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: JSON.stringify({ test: 'data', value: 123 }),
      }),
    ]),
  )
  router.tool('test_error_handling', { description: 'Fails in a way that the model can read.' }, () =>
    Tool.error('This tool intentionally returns an error for testing'),
  )
}

function addNotifyingTools(router: Router): void {
  router.tool('test_tool_with_logging', { description: 'Logs three times.' }, async (_params, session) => {
    for (const step of ['started', 'processing data', 'completed']) {
      await session.log.info(`Tool execution ${step}`, 'conformance')
      await sleep(50, undefined, { signal: session.signal })
    }
    return 'Tool with logging executed successfully'
  })
  router.tool(
    'test_logging_tool',
    { description: 'Logs where the client asked for logs.' },
    async (_params, session) => {
      await session.log.info('This is only for those who asked', 'conformance')
      return 'Logged'
    },
  )
  router.tool('test_tool_with_progress', { description: 'Reports progress three times.' }, async (_params, session) => {
    for (const progress of [0, 50, 100]) {
      await session.notifyProgress(progress, 100, `Completed step ${progress} of 100`)
      await sleep(50, undefined, { signal: session.signal })
    }
    return 'Tool with progress executed successfully'
  })
}

function addStreamTools(router: Router): void {
  router.tool(
    'test_reconnection',
    { description: 'Lets its stream go and answers later.' },
    async (_params, session) => {
      await session.finish()
      await sleep(100, undefined, { signal: session.signal })
      return 'Reconnection test completed successfully'
    },
  )
}

/** The lists stay as they are: a scenario checks that they are in the same order each time. */
function addTriggers(router: Router, server: Server): void {
  router.tool('test_trigger_tool_change', { description: 'Tells that the tools have changed.' }, async () => {
    await server.notifyToolList()
    return 'Tool change announced'
  })
  router.tool('test_trigger_prompt_change', { description: 'Tells that the prompts have changed.' }, async () => {
    await server.notifyPromptList()
    return 'Prompt change announced'
  })
}
