import { expectTypeOf, test } from 'vitest'
import { defineFor } from './define.js'
import type { Definition } from './definition.js'
import { field } from './field.js'
import { forbidden, unauthorized } from './refusal.js'
import { Resource } from './resource-result.js'
import { createRouter, type Router } from './router.js'
import type { Connecting, Session } from './session.js'

interface User {
  readonly id: string
  readonly plan: 'basic' | 'ultra'
  readonly suspended: boolean
}
declare const accounts: { fromBearer(header: string | null): Promise<User | null> }

const router = createRouter({
  name: 'Studies',
  version: '1.0.0',
  async connect(session, request) {
    expectTypeOf(request.query).toEqualTypeOf<URLSearchParams>()
    expectTypeOf(request.url).toEqualTypeOf<string>()
    const user = await accounts.fromBearer(request.headers.get('authorization'))
    if (!user)
      return unauthorized({
        method: 'Bearer',
        resource_metadata: 'https://example.com/.well-known/oauth-protected-resource',
      })
    if (user.suspended) return forbidden('Please upgrade your plan')
    if (user.plan === 'basic') session.allowTools(['create_question']).allowResourceTemplates(['study'])
    return session.assign({ user })
  },
  principal: (session) => session.assigns.user.id,
})

test('what connect assigns is typed in every handler', () => {
  expectTypeOf(router).toEqualTypeOf<Router<{ user: User }>>()
  router.tool('whoami', {}, (_params, session) => {
    expectTypeOf(session.assigns).toEqualTypeOf<{ user: User }>()
    return session.assigns.user.id
  })
  router.tool(
    'search',
    { input: { query: field.string({ required: true }) } },
    ({ query }, session) => query + session.assigns.user.plan,
  )
  router.prompt(
    'review',
    { arguments: { id: { complete: (value, session) => [value + session.assigns.user.id] } } },
    (_params, session) => session.assigns.user.id,
  )
  router.resource(
    'x:///:id',
    { name: 'study', complete: (_value, session) => [session.assigns.user.id] },
    (_params, session) => session.assigns.user.id,
  )
  router.use((session, next) => (session.assigns.user.suspended ? Promise.reject(new Error('no')) : next()))
  router.tool(
    'guarded',
    { middleware: [(session, next) => (session.assigns.user.suspended ? next() : next())] },
    () => 'x',
  )
  // @ts-expect-error nobody assigned that
  router.tool('account', {}, (_params, session) => session.assigns.account)
  // @ts-expect-error nor in a middleware
  router.use((session, next) => (session.assigns.account ? next() : next()))
})

test('assigning twice merges, and the last type counts', () => {
  const merged = createRouter({
    name: 'x',
    version: '1',
    connect: (session) => session.assign({ a: 1, b: 'x' }).assign({ b: true }),
    principal: (session) => {
      expectTypeOf(session.assigns).toEqualTypeOf<{ a: number; b: boolean }>()
      return null
    },
  })
  expectTypeOf(merged).toEqualTypeOf<Router<{ a: number; b: boolean }>>()
})

test('without connect there is nothing to find in the session', () => {
  const plain = createRouter({ name: 'x', version: '1' })
  expectTypeOf(plain).toEqualTypeOf<Router<object>>()
  // @ts-expect-error nobody assigned that
  plain.tool('whoami', {}, (_params, session) => session.assigns.user)
})

test('connect and principal come together, and are checked', () => {
  // @ts-expect-error connect needs principal
  createRouter({ name: 'x', version: '1', connect: (session) => session.assign({ user: 1 }) })
  // @ts-expect-error principal needs connect
  createRouter({ name: 'x', version: '1', principal: () => null })
  // @ts-expect-error connect returns the session or a refusal
  createRouter({ name: 'x', version: '1', connect: () => true, principal: () => null })
  const connect = (session: Connecting): Connecting<{ user: number }> => session.assign({ user: 1 })
  // @ts-expect-error a caller's name is text
  createRouter({ name: 'x', version: '1', connect, principal: (session) => session.assigns.user })
  // @ts-expect-error a misspelt option
  createRouter({ name: 'x', version: '1', instruction: 'x' })
  // @ts-expect-error a router has a version
  createRouter({ name: 'x' })
})

test('definitions of defineFor fit the routers whose sessions they know', () => {
  const app = defineFor<{ user: { id: string } }>()
  const whoami = app.tool('whoami', {}, (_params, session) => {
    expectTypeOf(session).toEqualTypeOf<Session<{ user: { id: string } }>>()
    return session.assigns.user.id
  })
  const study = app.resource(
    'https://example.com/:id',
    { name: 'study' },
    ({ id }, session) => id + session.assigns.user.id,
  )
  const review = app.prompt(
    'review',
    { arguments: { id: { required: true } } },
    ({ id }, session) => id + session.assigns.user.id,
  )
  const anywhere = defineFor().tool('ping', {}, () => 'pong')
  expectTypeOf(whoami).toExtend<Definition<{ user: { id: string } }>>()
  const register = (to: Router<{ user: { id: string } }>): Router<{ user: { id: string } }> =>
    to.add(whoami, study, review)
  expectTypeOf(register).returns.toEqualTypeOf<Router<{ user: { id: string } }>>()
  // A session that holds more will do.
  router.add(whoami, study, review, anywhere)
  router.replace(whoami)
  const plain = createRouter({ name: 'x', version: '1' })
  plain.add(anywhere)
  // @ts-expect-error this router's sessions have no user
  plain.add(whoami)
  // @ts-expect-error nor to be replaced
  plain.replace(study)
})

test('names and resources', () => {
  expectTypeOf(router.resourceUri('study', { id: 1 })).toEqualTypeOf<string>()
  router.tool('link', {}, (_params, session) => {
    const target = router.resourceFor(session, 'study', { id: 1 })
    expectTypeOf(target?.uri).toEqualTypeOf<string | undefined>()
    // @ts-expect-error it may not be there for this caller
    return target.uri
  })
  expectTypeOf(router.remove('tool', 'whoami')).toEqualTypeOf<boolean>()
  // @ts-expect-error no kind of that name
  router.remove('toll', 'whoami')
  createRouter({
    name: 'x',
    version: '1',
    listResources: (cursor, session) => {
      expectTypeOf(cursor).toEqualTypeOf<string | undefined>()
      expectTypeOf(session).toEqualTypeOf<Session<object>>()
      return Resource.list([{ uri: 'x:///1', name: 'one' }])
    },
  })
  // @ts-expect-error a list is made by Resource.list
  createRouter({ name: 'x', version: '1', listResources: () => [] })
})

test('a router is mounted where its sessions are known', () => {
  const plain = createRouter({ name: 'plain', version: '1' })
  router.mount('plain', plain)
  // @ts-expect-error the outer sessions have no user
  plain.mount('studies', router)
})
