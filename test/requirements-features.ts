import type { Requirement } from './requirement.js'

const STATELESS = ['2026-07-28']
const HTTP = ['node', 'fetch']
const ELICITING = ['2025-06-18', '2025-11-25', '2026-07-28']

/** What goes beyond single requests and sessions. */
export const featureRequirements: readonly Requirement[] = [
  // Asking the client
  {
    id: 'asking.inline',
    source: '26/basic/patterns/mrtr; 25/client/elicitation; docs/asking.md',
    behaviour: 'A handler asks and goes on with the answer, by a request or by a round; refusals are answers.',
    versions: ELICITING,
  },
  {
    id: 'asking.unsupported',
    source: '26/basic/patterns/mrtr, Server Requirements',
    behaviour: 'Nothing is asked that the client has not declared.',
    versions: ELICITING,
  },
  {
    id: 'asking.timeout',
    source: 'docs/asking.md',
    behaviour: 'A question has its time; an answer that comes later is refused and changes nothing.',
    versions: ELICITING,
  },
  {
    id: 'asking.keys',
    source: 'docs/asking.md',
    behaviour: 'Two open questions have keys, or are asked together.',
    versions: ELICITING,
  },
  {
    id: 'asking.own-session',
    source: 'docs/asking.md',
    behaviour: 'What a handler tells goes to the request that it is serving now, and is told once.',
    versions: ELICITING,
  },
  {
    id: 'asking.pauses',
    source: 'docs/asking.md',
    behaviour: 'The time and the place of a call are not used up while its client is asked.',
    versions: ELICITING,
  },
  {
    id: 'asking.validates',
    source: '26/client/elicitation, Response Actions',
    behaviour: 'An answer that does not fit its form never reaches the handler.',
    versions: ELICITING,
  },
  {
    id: 'asking.once',
    source: 'docs/asking.md',
    behaviour: 'What runs once is not run again when the handler is.',
    versions: ELICITING,
  },
  // Extensions
  {
    id: 'ext.declared',
    source: '26/basic, Extensions; docs/extensions.md',
    behaviour: 'An extension is declared under its id, with its settings, in the versions that it exists in.',
  },
  {
    id: 'ext.method',
    source: '26/basic, Extensions; docs/extensions.md',
    behaviour: 'A method of an extension is served in its versions, and unknown in others.',
  },
  {
    id: 'ext.undeclared',
    source: '26/basic, Extensions',
    behaviour: 'A client that does not declare what an extension requires gets -32021 with what is missing.',
    versions: STATELESS,
  },
  {
    id: 'ext.mirrored',
    source: '26/basic/transports/streamable-http, Standard Headers',
    behaviour: 'Mcp-Name repeats the parameter that the extension says.',
    versions: STATELESS,
    transports: HTTP,
  },
  {
    id: 'ext.outcome',
    source: '26/basic, Extensions: resultType',
    behaviour: 'An outcome of an extension is answered with its resultType where it is declared.',
  },
  {
    id: 'ext.listen',
    source: '26/basic/patterns/subscriptions',
    behaviour:
      'A listen filter of an extension is acknowledged with what is allowed; events carry the subscription id.',
    versions: STATELESS,
  },
  {
    id: 'ext.recheck',
    source: 'architecture: events, re-checked before each delivery',
    behaviour: 'Access to what a filter follows is asked again before each event.',
    versions: STATELESS,
  },
]
