// A client with tasks, over HTTP; the official one has none. What it sends is what the specification says.
const VERSION = '2026-07-28'
const TASKS = 'io.modelcontextprotocol/tasks'
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'tasks', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} }, elicitation: { form: {} } },
}

export class TaskClient {
  #url
  #token
  #ids = 0

  constructor(url, token) {
    this.#url = url
    this.#token = token
  }

  /** Starts a report and gives its task, as the call was answered. */
  order(year) {
    return this.request('tools/call', { name: 'report', arguments: { year } }, 'report')
  }

  get(taskId) {
    return this.request('tasks/get', { taskId }, taskId)
  }

  update(taskId, inputResponses) {
    return this.request('tasks/update', { taskId, inputResponses }, taskId)
  }

  cancel(taskId) {
    return this.request('tasks/cancel', { taskId }, taskId)
  }

  async request(method, params, name) {
    const response = await this.#post(method, params, { name })
    const text = await response.text()
    const body = response.headers.get('content-type')?.startsWith('text/event-stream') ? messagesOf(text).at(-1) : text
    const { result, error } = JSON.parse(body)
    if (error !== undefined) throw Object.assign(new Error(error.message), error)
    return result
  }

  /** Follows tasks: `heard` grows until `close`. Resolves when the server has said which of them it will tell about. */
  async listen(taskIds) {
    const controller = new AbortController()
    const { signal } = controller
    const response = await this.#post('subscriptions/listen', { notifications: { taskIds } }, { signal })
    const heard = []
    let rest = ''
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    const read = async () => {
      const { done, value = '' } = await reader.read()
      const events = (rest + value).split('\n\n')
      rest = events.pop()
      for (const message of messagesOf(events.join('\n'))) heard.push(JSON.parse(message))
      return !done
    }
    while (heard.length === 0 && (await read()));
    const following = (async () => {
      while (await read());
    })().catch(() => undefined)
    const close = () => {
      controller.abort()
      return following
    }
    return { acknowledged: heard.shift()?.params.notifications, heard, close }
  }

  #post(method, params, { name, signal }) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${this.#token}`,
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#ids, method, params: { ...params, _meta: META } })
    return fetch(this.#url, { method: 'POST', headers, body, signal })
  }
}

const messagesOf = (text) => [...text.matchAll(/^data: ?(.+)$/gm)].map(([, data]) => data)
