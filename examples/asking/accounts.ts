/** Somebody who may call the tools, and has a browser. */
export interface User {
  readonly id: string
  readonly token: string
}

export interface Flow {
  readonly id: string
  readonly userId: string
}

/** Who there is, and who has connected their account elsewhere. An application has this in its database. */
export class Accounts {
  readonly #users: readonly User[]
  readonly #flows = new Map<string, Flow>()
  readonly #connected = new Set<string>()

  constructor(users: readonly User[]) {
    this.#users = users
  }

  /** The user of a bearer token, or of the cookie that the sign-in page sets to it. */
  byToken(token: string | undefined): User | undefined {
    return this.#users.find((user) => user.token === token)
  }

  byId(id: string | null): User | undefined {
    return this.#users.find((user) => user.id === id)
  }

  isConnected(userId: string): boolean {
    return this.#connected.has(userId)
  }

  /** One flow for a user at a time: asking again leads to the same page. */
  startConnecting(userId: string): Flow {
    const open = [...this.#flows.values()].find((flow) => flow.userId === userId)
    const flow = open ?? { id: crypto.randomUUID(), userId }
    this.#flows.set(flow.id, flow)
    return flow
  }

  /**
   * The page of a flow was opened, by whoever is signed in there. False for another user than the one who started: their link was
   * sent to somebody, who would connect an account for them.
   */
  finishConnecting(flowId: string, signedIn: User): boolean {
    const flow = this.#flows.get(flowId)
    if (flow?.userId !== signedIn.id) return false
    this.#flows.delete(flowId)
    this.#connected.add(signedIn.id)
    return true
  }
}
