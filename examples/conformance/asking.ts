import { type Answer, Elicit, field, Roots, type Router, Sample, Tool } from 'phantom-mcp'

const NAME = Elicit.form({ message: 'What is your name?', fields: { name: field.string({ required: true }) } })
const COLOR = Elicit.form({ message: 'Which colour?', fields: { color: field.string({ required: true }) } })
const CONFIRM = Elicit.form({ message: 'Is that right?', fields: { ok: field.boolean({ required: true }) } })
const CAPITAL = Sample.message({
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 100,
})

const told = (answer: Answer<unknown>): string =>
  answer.action === 'accept' ? JSON.stringify(answer.content) : answer.action

/** The fixture's tools and its prompt that ask the client, in the ways that the framework has for it. */
export function addAsking(router: Router): void {
  addQuestions(router)
  addForms(router)
  addRounds(router)
  addSteps(router)
  router.prompt(
    'test_input_required_result_prompt',
    { description: 'Asks for what it is about.' },
    async (_params, session) => {
      const context = Elicit.form({ message: 'What is it about?', fields: { context: field.string() } })
      return `Talk about ${told(await session.elicit(context, { key: 'user_context' }))}`
    },
  )
}

/** The same handlers for each protocol version. */
function addQuestions(router: Router): void {
  router.tool(
    'test_sampling',
    { description: "Asks the client's model.", input: { prompt: field.string({ required: true }) } },
    async ({ prompt }, session) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }]
      return `LLM response: ${told(await session.sample({ messages, maxTokens: 100 }))}`
    },
  )
  router.tool(
    'test_elicitation',
    { description: 'Asks the user.', input: { message: field.string({ required: true }) } },
    async ({ message }, session) => {
      const fields = { username: field.string({ required: true }), email: field.string({ required: true }) }
      return `User response: ${told(await session.elicit(Elicit.form({ message, fields })))}`
    },
  )
  // Nobody answers this one in 2026-07-28: a tool that only reads lets the server close meanwhile.
  router.tool(
    'test_streaming_elicitation',
    { readOnly: true, description: 'Asks who can be asked.' },
    async (_params, session) => told(await session.elicit(NAME)),
  )
  router.tool('test_missing_capability', { description: 'Cannot do without a model.' }, () =>
    Tool.inputRequired({ requests: { capital: CAPITAL } }),
  )
}

function addForms(router: Router): void {
  const defaults = Elicit.form({
    message: 'Please review and update your details',
    fields: {
      name: field.string({ default: 'John Doe' }),
      age: field.integer({ default: 30 }),
      score: field.number({ default: 95.5 }),
      status: field.string({ in: ['active', 'inactive', 'pending'], default: 'active' }),
      verified: field.boolean({ default: true }),
    },
  })
  router.tool(
    'test_elicitation_sep1034_defaults',
    { description: 'Asks by a form with defaults.' },
    async (_params, session) => told(await session.elicit(defaults)),
  )
  const options = ['option1', 'option2', 'option3']
  const titled = options.map((value, at) => ({ const: value, title: `Option ${at + 1}` }))
  const choices = Elicit.form({
    message: 'Please choose',
    requestedSchema: {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: { type: 'string', enum: options, enumNames: titled.map(({ title }) => title) },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      },
    },
  })
  router.tool(
    'test_elicitation_sep1330_enums',
    { description: 'Asks by a form of choices.' },
    async (_params, session) => told(await session.elicit(choices)),
  )
}

/** What only 2026-07-28 is called with. Nothing here does harm twice, so that all of it may be replayed. */
function addRounds(router: Router): void {
  const options = { readOnly: true }
  router.tool(
    'test_input_required_result_elicitation',
    { ...options, description: 'Asks for a name.' },
    async (_params, session) => `Hello ${told(await session.elicit(NAME, { key: 'user_name' }))}`,
  )
  router.tool(
    'test_input_required_result_sampling',
    { ...options, description: 'Asks a model.' },
    async (_params, session) => told(await session.elicit(CAPITAL, { key: 'capital' })),
  )
  router.tool(
    'test_input_required_result_list_roots',
    { ...options, description: 'Asks for roots.' },
    async (_params, session) => told(await session.roots()),
  )
  router.tool(
    'test_input_required_result_multiple_inputs',
    { ...options, description: 'Asks for three things at once.' },
    async (_params, session) => {
      const answers = await session.ask({ user_name: NAME, greeting: CAPITAL, client_roots: Roots.list() })
      return Object.values(answers).map(told).join(' ')
    },
  )
  router.tool(
    'test_input_required_result_multi_round',
    { ...options, description: 'Asks two questions, one after the other.' },
    async (_params, session) => `${told(await session.elicit(NAME))} ${told(await session.elicit(COLOR))}`,
  )
  router.tool(
    'test_input_required_result_capabilities',
    { ...options, description: 'Asks what the client can be asked.' },
    async (_params, session) => {
      const { user_name, capital } = await session.ask({ user_name: NAME, capital: CAPITAL })
      return `${told(user_name)} ${told(capital)}`
    },
  )
}

/** The same without a handler that waits: by a step, and by a handler that runs again. */
function addSteps(router: Router): void {
  const confirm = router.step(
    'confirm',
    (_state: { readonly from: string }) => CONFIRM,
    (answer, { from }) => `state-ok ${from} ${told(answer)}`,
  )
  router.tool(
    'test_input_required_result_request_state',
    { description: 'Keeps something with the client.' },
    (_params, session) => session.elicit(confirm, { state: { from: 'request_state' } }),
  )
  router.tool(
    'test_input_required_result_tampered_state',
    { description: 'Takes back only what it has given.' },
    (_params, { state, inputResponses }) =>
      state === undefined
        ? Tool.inputRequired({ requests: { confirm: CONFIRM }, state: { begun: true } })
        : `${JSON.stringify(state)} ${Object.keys(inputResponses ?? {}).join(', ')}`,
  )
}
