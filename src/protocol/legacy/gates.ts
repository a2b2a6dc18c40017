import type { Projected } from '../codec.js'
import type { SessionVersion } from '../versions.js'

/** For each kind, the members that came after 2024-11-05, with the version that brought them; `never` came after 2025-11-25. */
export type Gates = Readonly<Record<Projected, Readonly<Record<string, SessionVersion | 'never'>>>>

const META = { _meta: '2025-06-18' } as const
const TITLED = { title: '2025-06-18', icons: '2025-11-25', ...META } as const

/** The specification's changelogs, as data (reference: schema of each version). */
export const GATES: Gates = {
  implementation: { title: '2025-06-18', icons: '2025-11-25', description: '2025-11-25', websiteUrl: '2025-11-25' },
  capabilities: { completions: '2025-03-26' },
  tool: { ...TITLED, annotations: '2025-03-26', outputSchema: '2025-06-18' },
  prompt: TITLED,
  promptArgument: { title: '2025-06-18' },
  resource: TITLED,
  resourceTemplate: TITLED,
  content: { ...TITLED },
  contents: META,
}

/** `annotations.lastModified` is younger than annotations. */
export const LAST_MODIFIED_SINCE: SessionVersion = '2025-06-18'

/** Content blocks that came after 2024-11-05. */
export const CONTENT_SINCE: Readonly<Record<string, SessionVersion>> = {
  audio: '2025-03-26',
  resource_link: '2025-06-18',
}
export const STRUCTURED_CONTENT_SINCE: SessionVersion = '2025-06-18'
/** `$schema` inside tool schemas: the dialect was not named before. */
export const DIALECT_SINCE: SessionVersion = '2025-11-25'
/** Questions to the client, in the order in which they came. */
export const ELICITATION_SINCE: SessionVersion = '2025-06-18'
export const URL_ELICITATION_SINCE: SessionVersion = '2025-11-25'
/** Lists of choices, titled choices and defaults of every kind in forms (SEP-1034, SEP-1330). */
export const RICH_FORMS_SINCE: SessionVersion = '2025-11-25'
/** `tools` of sampling, and several blocks in a message. */
export const SAMPLING_TOOLS_SINCE: SessionVersion = '2025-11-25'
