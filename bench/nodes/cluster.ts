import type { Agent } from 'node:http'
import { ServerChild } from '../children.js'
import { post } from '../http.js'
import { touchCall } from '../requests.js'
import type { Touched } from '../servers/mcp-node.js'
import { newAgent } from '../visit.js'
import type { Engine } from './engines.js'

/** Nodes of one server, each a process. */
export class Cluster {
  readonly nodes: readonly ServerChild[]
  readonly agent: Agent = newAgent()

  private constructor(nodes: readonly ServerChild[]) {
    this.nodes = nodes
  }

  /** Without an engine there can only be one. */
  static async start({ url }: Engine, nodes: number): Promise<Cluster> {
    const count = url === undefined ? 1 : nodes
    const started = Array.from({ length: count }, () => ServerChild.start('mcp-node', { engine: url }))
    return new Cluster(await Promise.all(started))
  }

  /** One after the other, again and again. */
  at(index: number): ServerChild {
    return this.nodes[index % this.nodes.length] as ServerChild
  }

  /** Has a node tell all who follow the resource that it has changed. */
  async touch(index: number): Promise<Touched> {
    const { status, body } = await post(this.at(index).port, touchCall.headers, touchCall.body)
    const { result } = JSON.parse(body) as { result?: { content?: readonly { text: string }[] } }
    const text = result?.content?.[0]?.text
    if (status !== 200 || text === undefined) throw new Error(`A node answered ${status}: ${body.slice(0, 300)}`)
    return JSON.parse(text) as Touched
  }

  async close(): Promise<void> {
    this.agent.destroy()
    await Promise.all(this.nodes.map((node) => node.close()))
  }
}
