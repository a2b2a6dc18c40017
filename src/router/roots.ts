import type { Root } from '../protocol/sampling.js'
import { BUILT } from './built.js'
import { isRecord } from './json-value.js'
import type { Answer, Question } from './question.js'

/** Builders of the question for the client's roots. */
export interface RootsBuilders {
  /**
   * The folders and files that the client works on.
   *
   * @deprecated By the specification, with 2026-07-28: take a path or a URI as an argument of the tool. Clients that have roots
   * are still asked.
   */
  list(): Question<readonly Root[]>
}

/**
 * Builders of the question for the client's roots (2026-07-28 client/roots).
 *
 * @deprecated By the specification, with 2026-07-28: take a path or a URI as an argument of the tool. Clients that have roots are
 * still asked.
 */
export const Roots: RootsBuilders = {
  list: () => ({
    [BUILT]: 'question',
    method: 'roots/list',
    params: {},
    requires: { roots: {} },
    fingerprint: 'roots/list',
    read: readRoots,
  }),
}

function readRoots(response: unknown): Answer<readonly Root[]> | undefined {
  const given: unknown = isRecord(response) ? response['roots'] : undefined
  if (!Array.isArray(given)) return undefined
  const roots: Root[] = []
  for (const item of given) {
    const root = readRoot(item)
    if (root === undefined) return undefined
    roots.push(root)
  }
  return { action: 'accept', content: roots }
}

/** Only files for now (2026-07-28 client/roots, Data Types): another scheme would be read as a path that it is not. */
function readRoot(item: unknown): Root | undefined {
  if (!isRecord(item)) return undefined
  const { uri, name } = item
  if (typeof uri !== 'string' || !/^file:\/\//i.test(uri) || !URL.canParse(uri)) return undefined
  if (name !== undefined && typeof name !== 'string') return undefined
  return name === undefined ? { uri } : { uri, name }
}
