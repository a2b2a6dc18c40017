import { createRouter, Elicit, field, type Router, Tool, unauthorized } from 'phantom-mcp'
import type { Accounts, User } from './accounts.js'

/** What the shop does to the world, and must not do twice. */
export interface Effects {
  /** Payments by their idempotency key, as a payment provider keeps them. */
  readonly payments: Map<string, number>
  readonly deleted: string[]
}

export interface ShopOptions {
  readonly accounts: Accounts
  readonly effects: Effects
  /** Where the page of `connect_account` is served. */
  readonly pages: () => string
  readonly secretKeyBase: string
}

/** The ways to ask a client: a form, a step, a page, and a part that runs once. */
export function shopRouter({ accounts, effects, pages, secretKeyBase }: ShopOptions): Router<{ user: User }> {
  const router = createRouter({
    name: 'shop',
    version: '1.0.0',
    secretKeyBase,
    connect(session, { headers }) {
      const user = accounts.byToken(headers.get('authorization')?.replace(/^Bearer /i, ''))
      return user === undefined ? unauthorized('Bearer') : session.assign({ user })
    },
    principal: (session) => session.assigns.user.id,
  })
  addForm(router)
  addStep(router, effects)
  addPage(router, accounts, pages)
  addPayment(router, effects)
  return router
}

/** A form: the handler waits for the answer. */
function addForm(router: Router<{ user: User }>): void {
  const table = Elicit.form({
    message: 'For how many, and when?',
    fields: {
      guests: field.integer({ required: true, minimum: 1, maximum: 12, title: 'Guests' }),
      time: field.string({ in: ['18:00', '20:00'], titles: { '18:00': 'Six', '20:00': 'Eight' }, default: '20:00' }),
    },
  })
  router.tool('book_table', { description: 'Book a table for tonight.', readOnly: true }, async (_params, session) => {
    const answer = await session.elicit(table)
    if (answer.action === 'accept') return `A table for ${answer.content.guests} at ${answer.content.time}.`
    return answer.action === 'unsupported' ? 'Call us to book a table.' : Tool.error('Nothing was booked.')
  })
}

/** A step: nothing waits, and any node takes the answer. */
function addStep(router: Router<{ user: User }>, { deleted }: Effects): void {
  const confirm = router.step(
    'confirm_delete',
    ({ path }: { path: string }) =>
      Elicit.form({
        message: `Really delete ${path}?`,
        fields: { confirm: field.string({ in: ['yes', 'no'], required: true }) },
      }),
    async (answer, { path }) => {
      if (answer.action !== 'accept' || answer.content.confirm === 'no') return 'Nothing was deleted.'
      deleted.push(path)
      return `${path} is deleted.`
    },
  )
  router.tool(
    'delete_file',
    { description: 'Delete a file, once the user has confirmed.', input: { path: field.string({ required: true }) } },
    ({ path }, session) => session.elicit(confirm, { state: { path } }),
  )
}

/** A page: the record is ours, and the page looks who is there. */
function addPage(router: Router<{ user: User }>, accounts: Accounts, pages: () => string): void {
  router.tool('connect_account', { description: 'Connect an account elsewhere.' }, (_params, session) => {
    const { user } = session.assigns
    if (accounts.isConnected(user.id)) return 'The account is connected.'
    const { id } = accounts.startConnecting(user.id)
    const page = Elicit.url(`${pages()}/connect/${id}`, 'Connect your account', { elicitationId: id })
    return Tool.elicitationRequired([page])
  })
}

/** A part that runs once, however often the handler does. */
function addPayment(router: Router<{ user: User }>, { payments }: Effects): void {
  const address = Elicit.form({ message: 'Where to?', fields: { street: field.string({ required: true }) } })
  router.tool(
    'buy',
    { description: 'Buy something.', input: { cents: field.integer({ required: true, minimum: 1 }) }, replay: true },
    async ({ cents }, session) => {
      const paid = await session.once('charge', (idempotencyKey) => {
        payments.set(idempotencyKey, cents)
        return { cents }
      })
      const answer = await session.elicit(address)
      const where = answer.action === 'accept' ? `sent to ${answer.content.street}` : 'to be picked up'
      return `${paid.cents} cents are paid; ${where}.`
    },
  )
}
