import { expectTypeOf, test } from 'vitest'
import { Resource } from './resource-result.js'
import { createRouter } from './router.js'
import type { Session } from './session.js'
import { Tool } from './tool-result.js'

const router = createRouter({ name: 'types', version: '1.0.0' })
const name = 'study'

test('the handler’s parameters come from the pattern', () => {
  router.resource('https://example.com/studies/:id/md', { name, mimeType: 'text/markdown' }, (params, session) => {
    expectTypeOf(params).toEqualTypeOf<{ id: string }>()
    expectTypeOf(session).toEqualTypeOf<Session<object>>()
    return Resource.text(params.id)
  })
  router.resource('myapp:///studies/:study_id/cover/*rest', { name }, (params) => {
    expectTypeOf(params).toEqualTypeOf<{ study_id: string; rest: string }>()
    return params.study_id + params.rest
  })
  router.resource('shop://items{?q,page}', { name }, (params) => {
    expectTypeOf(params).toEqualTypeOf<{ q?: string; page?: string }>()
    return params.q ?? ''
  })
  router.resource('http://localhost:8080/items/{id}{?tag*}', { name }, (params) => {
    expectTypeOf(params).toEqualTypeOf<{ id: string; tag?: string[] }>()
    return params.id
  })
  router.resource('urn:isbn:0451450523', { name }, (params) => {
    expectTypeOf<keyof typeof params>().toBeNever()
    return 'x'
  })
  // @ts-expect-error the pattern has no such variable
  router.resource('https://example.com/studies/:id/md', { name }, ({ study_id }) => study_id)
  // @ts-expect-error a query variable may be missing
  router.resource('shop://items{?q,page}', { name }, ({ q }) => q.toUpperCase())
})

test('a resource is text, bytes, parts, or nothing', () => {
  router.resource('x:///:id', { name }, ({ id }) => (id === '' ? null : id))
  router.resource('x:///:id', { name }, async ({ id }) => (id === '' ? undefined : new Uint8Array([1])))
  router.resource('x:///:id', { name }, ({ id }) => [
    id,
    new Uint8Array(),
    Resource.text({ id }),
    Resource.blob('AQI='),
  ])
  // @ts-expect-error a number is no resource
  router.resource('x:///:id', { name }, () => 5)
  // @ts-expect-error an object is to be made text first
  router.resource('x:///:id', { name }, ({ id }) => ({ id }))
  // @ts-expect-error the result of a tool is no resource
  router.resource('x:///:id', { name }, () => Tool.text('x'))
})

test('completion is for all variables, or by name', () => {
  router.resource(
    'x:///:id/:lang',
    { name, complete: async (value, _session, context) => [value, context['id'] ?? ''] },
    () => 'x',
  )
  router.resource(
    'x:///:id/:lang',
    { name, complete: { id: () => ['1'], lang: () => ({ values: [], total: 0 }) } },
    () => 'x',
  )
  router.resource(
    'x:///:id',
    // @ts-expect-error a completer is a function
    { name, complete: { id: ['1'] } },
    () => 'x',
  )
})

test('mistakes in the options are compile errors', () => {
  // @ts-expect-error a resource has a name
  router.resource('x:///:id', {}, () => 'x')
  // @ts-expect-error a misspelt option
  router.resource('x:///:id', { name, mimetype: 'text/plain' }, () => 'x')
})
