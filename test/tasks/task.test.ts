import { McpError, Tool } from 'phantom-mcp'
import { Task, type TaskStatus, tasks } from 'phantom-mcp/tasks'
import { describe, expect, test } from 'vitest'
import { CREATED, createApp, inStatus } from './_tasks.js'

const base = { id: 'job', status: 'working', createdAt: CREATED } as const
const ALL: readonly TaskStatus[] = ['working', 'input_required', 'completed', 'failed', 'cancelled']
const OWN = {
  working: {},
  cancelled: {},
  input_required: { inputRequests: { q: { method: 'roots/list' } } },
  completed: { result: 'x' },
  failed: { error: { code: -1, message: 'x' } },
}

describe('Task.build refuses', () => {
  test.each([
    ['no id', { ...base, id: '' }, 'id must be a string'],
    ['another status', { ...base, status: 'done' }, 'status must be one of working, input_required, completed'],
    ['a status of Object', { ...base, status: 'toString' }, 'status must be one of'],
    ['no date', { ...base, createdAt: 'soon' }, "task 'job': createdAt must be a date"],
    ['a ttl below 0', { ...base, ttlMs: -1 }, 'ttlMs must be a whole number of milliseconds from 0 on, or null'],
    ['half a ttl', { ...base, ttlMs: 0.5 }, 'ttlMs must be'],
    ['no interval', { ...base, pollIntervalMs: 0 }, 'pollIntervalMs must be a whole number of milliseconds from 1 on'],
    ['a message that is none', { ...base, statusMessage: 1 }, 'statusMessage must be a string'],
    [
      'a result too early',
      { ...base, result: 'x' },
      'result belongs to a task that is completed, and this one is working',
    ],
    ['no result', { ...base, status: 'completed' }, 'result belongs to a task that is completed'],
    ['no error', { ...base, status: 'failed' }, 'error belongs to a task that is failed'],
    ['an error that is none', { ...base, status: 'failed', error: { code: 'x' } }, 'error must be an McpError or'],
    ['no question', { ...base, status: 'input_required', inputRequests: {} }, 'at least one question'],
    [
      'a question that is none',
      { ...base, status: 'input_required', inputRequests: { q: {} } },
      'inputRequests.q must be',
    ],
    ['a misspelt member', { ...base, ttl: 1 }, "unknown option 'ttl'"],
  ])('%s', (_what, options, message) => {
    expect(() => Task.build(options as never)).toThrow(TypeError)
    expect(() => Task.build(options as never)).toThrow(message)
  })
})

describe('Task.change', () => {
  const followers: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
    working: ALL,
    input_required: ALL,
    completed: [],
    failed: [],
    cancelled: [],
  }
  test.each(ALL.flatMap((from) => ALL.map((to) => [from, to] as const)))('from %s to %s', (from, to) => {
    const change = (): Task => Task.change(inStatus(from), { status: to, ...OWN[to] }, CREATED)
    if (followers[from].includes(to)) expect(change()).toMatchObject({ id: 'job', status: to })
    else expect(change).toThrow(`task 'job': it is ${from}, and cannot be ${to} any more`)
  })

  test('keeps the rest, and says when', () => {
    const task = Task.build({ ...base, ttlMs: 5, pollIntervalMs: 7, statusMessage: 'begun' })
    const later = Task.change(task, { statusMessage: 'half' }, '2026-07-28T10:00:01Z')
    expect(JSON.parse(JSON.stringify(later))).toEqual({
      ...{ id: 'job', status: 'working', statusMessage: 'half', createdAt: CREATED, ttlMs: 5, pollIntervalMs: 7 },
      lastUpdatedAt: '2026-07-28T10:00:01.000Z',
    })
    expect(task.statusMessage).toBe('begun')
    expect(() => Object.assign(task, { status: 'failed' })).toThrow(TypeError)
  })
})

test('a result is what a tool returns, or what was kept of it; an McpError is its number', () => {
  const completed = (result: unknown) => Task.build({ ...base, status: 'completed', result }).result
  expect(completed(Tool.error('why'))).toEqual({ content: [{ type: 'text', text: 'why' }], isError: true })
  expect(completed({ total: 1 })).toEqual({
    content: [{ type: 'text', text: '{"total":1}' }],
    structuredContent: { total: 1 },
  })
  expect(completed({ content: [], isError: true })).toEqual({ content: [], isError: true })
  const error = new McpError('INVALID_PARAMS', 'No', { data: { a: 1 } })
  expect(Task.build({ ...base, status: 'failed', error }).error).toEqual({
    code: -32602,
    message: 'No',
    data: { a: 1 },
  })
})

test('ids have 256 bits and differ', () => {
  const ids = Array.from({ length: 1000 }, () => Task.id())
  expect(new Set(ids).size).toBe(1000)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{64}$/)
})

test('misuse is told at start', () => {
  expect(() => tasks({} as never)).toThrow('tasks: get must be a function')
  expect(() => tasks({ get: () => null, fetch: 1 } as never)).toThrow("tasks: unknown option 'fetch'")
  const { router } = createApp()
  expect(() => router.tool('x', { task: 'always' as never }, () => 'ok')).toThrow(
    "tool 'x': task must be one of never, optional, required",
  )
})
