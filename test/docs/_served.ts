import type { Router } from 'phantom-mcp'
import { type ServeOptions, type Serving, serve as serveNode } from 'phantom-mcp/node'

// What samples that are run import in the place of phantom-mcp/node.

/** Addresses of the servers that samples have started, in order. */
export const served: string[] = []
const servings: Serving[] = []

/**
 * Serves on a free port, whatever the sample says, and ends with the tests.
 *
 * @public
 */
export async function serve(router: Router, options: ServeOptions = {}): Promise<Serving> {
  const serving = await serveNode(router, { ...options, port: 0, signals: false })
  servings.push(serving)
  served.push(serving.url)
  return serving
}

export async function closeServed(): Promise<void> {
  await Promise.all(servings.map((serving) => serving.close()))
}
