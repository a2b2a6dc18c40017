import type { Requirement } from './requirement.js'

const STATELESS = ['2026-07-28']
const ELICITING = ['2025-06-18', '2025-11-25', '2026-07-28']

/** What is asked, and what is sealed meanwhile. */
export const askingRequirements: readonly Requirement[] = [
  {
    id: 'state.foreign',
    source: '26/basic/patterns/mrtr, Server Requirements: requestState',
    behaviour: 'A state that was changed, or that this server has not made, is refused with -32602, `malformed`.',
    versions: STATELESS,
  },
  {
    id: 'state.bound',
    source: '26/basic/patterns/mrtr, Server Requirements: requestState',
    behaviour: 'A state is good for its method, its target, its arguments and its caller, and for no other: `bound`.',
    versions: STATELESS,
  },
  {
    id: 'state.expired',
    source: '26/basic/patterns/mrtr, Server Requirements: requestState; docs/asking.md',
    behaviour: 'A state has its time, and what it asks is decided once.',
    versions: STATELESS,
  },
  {
    id: 'state.used',
    source: 'docs/asking.md',
    behaviour: 'A round is moved on once: who answers again gets the same result for a minute, then `used`.',
    versions: STATELESS,
  },
  {
    id: 'state.elsewhere',
    source: 'docs/asking.md',
    behaviour: 'Any server with the secret goes on, by running the handler again where that is allowed.',
    versions: STATELESS,
  },
  {
    id: 'state.keys',
    source: 'docs/asking.md',
    behaviour: 'Secrets are replaced one by one: the newest seals, all of them open.',
    versions: STATELESS,
  },
  {
    id: 'state.size',
    source: 'docs/asking.md',
    behaviour: 'A state has 16 KiB at most; what is longer is kept in the store.',
    versions: STATELESS,
  },
  {
    id: 'state.secret',
    source: 'docs/asking.md',
    behaviour: 'Without a secret nothing is sealed that others could reach.',
    versions: STATELESS,
  },
  {
    id: 'asking.step',
    source: 'api: Asking the client; docs/asking.md',
    behaviour: 'A step gets the answer and its state, on whatever node, and may ask further.',
    versions: ELICITING,
  },
  {
    id: 'asking.step-once',
    source: 'docs/asking.md',
    behaviour: 'A step is answered once, unless it says that it may be answered again.',
    versions: STATELESS,
  },
  {
    id: 'asking.step-lost',
    source: 'docs/asking.md',
    behaviour: 'A step that is not there any more, or asks something else, is `handler_changed`.',
    versions: STATELESS,
  },
  {
    id: 'asking.input-required',
    source: '26/basic/patterns/mrtr, InputRequiredResult',
    behaviour: 'Tool.inputRequired asks, and the handler runs again with what came back and with its state.',
    versions: ELICITING,
  },
  {
    id: 'asking.url',
    source: '25/client/elicitation, URL Mode; 26/client/elicitation',
    behaviour: 'A page is asked for where the version and the client have that.',
    versions: ELICITING,
  },
  {
    id: 'asking.url-required',
    source: '25/client/elicitation, URL Elicitation Required Error; decisions: elicitationRequired declined',
    behaviour: 'Pages that are needed are -32042, or a round; declined is a result that the model reads.',
    versions: ELICITING,
  },
  {
    id: 'asking.sample',
    source: '26/client/sampling; decisions: deprecated features',
    behaviour: "The client's model is asked, in every version, for what it declares.",
  },
  {
    id: 'asking.roots',
    source: '26/client/roots; decisions: deprecated features',
    behaviour: "The client's roots are asked for, in every version.",
  },
  {
    id: 'asking.together',
    source: 'docs/asking.md',
    behaviour: 'What is asked together travels in one round, under its own keys.',
    versions: ELICITING,
  },
  {
    id: 'asking.first-call',
    source: '26/basic/patterns/mrtr',
    behaviour: 'Answers in the first call are for the questions with their keys; others are ignored.',
    versions: STATELESS,
  },
  {
    id: 'asking.responses',
    source: '26/basic/patterns/mrtr',
    behaviour: 'inputResponses that are no object are -32602.',
    versions: STATELESS,
  },
  {
    id: 'asking.again',
    source: '26/basic/patterns/mrtr',
    behaviour: 'An answer that is missing, or of the wrong shape, is asked for again.',
    versions: STATELESS,
  },
  {
    id: 'asking.capability',
    source: '26/basic/patterns/mrtr, Server Requirements',
    behaviour: 'What a tool cannot do without is -32021, over HTTP with 400, before anything is streamed.',
    versions: ELICITING,
  },
  {
    id: 'asking.client-error',
    source: '25/client/elicitation, Error Handling; protocol 3.2',
    behaviour: 'A client that answers with an error has failed: an answer of its own.',
  },
  {
    id: 'asking.cancelled',
    source: '25/basic/utilities/cancellation; 26/basic/patterns/cancellation',
    behaviour: 'A call that its client gives up is told; its open question is withdrawn.',
    versions: ELICITING,
  },
  {
    id: 'asking.session-end',
    source: 'field case L4',
    behaviour: 'A call that waits for a client whose session ends is over.',
  },
  {
    id: 'asking.replay',
    source: 'docs/asking.md',
    behaviour: 'A handler that runs again is told what it was told, and tells nothing twice.',
    versions: STATELESS,
  },
  {
    id: 'asking.changed',
    source: 'docs/asking.md',
    behaviour: 'A handler that asks something else than it was answered is `handler_changed`.',
    versions: STATELESS,
  },
  {
    id: 'asking.not-replayable',
    source: 'docs/asking.md',
    behaviour: 'A tool that may not run again cannot ask where nothing waits: the operator is told what to do.',
    versions: STATELESS,
  },
  {
    id: 'asking.around',
    source: 'docs/asking.md',
    behaviour: 'Middleware runs once for each request, around what it does.',
    versions: ELICITING,
  },
  {
    id: 'asking.raced',
    source: 'docs/asking.md',
    behaviour: 'A handler that does not wait for its answer gives its result to who brings the answer.',
    versions: ELICITING,
  },
  {
    id: 'asking.parked',
    source: 'docs/asking.md',
    behaviour: 'So many handlers wait, and no more: some make room, others are refused.',
    versions: STATELESS,
  },
  {
    id: 'asking.drain',
    source: 'docs/asking.md',
    behaviour: 'A closing server lets go what can go on elsewhere, and waits for the rest.',
    versions: STATELESS,
  },
  {
    id: 'asking.url-complete',
    source: '25/client/elicitation, Completion Notifications',
    behaviour: 'Who was asked for a page is told when it is done, in 2025-11-25 only.',
    versions: ELICITING,
  },
  {
    id: 'asking.deprecated',
    source: 'decisions: deprecated features',
    behaviour: 'Sampling and roots are warned of once a process.',
  },
  {
    id: 'field.L1',
    source: 'field-cases L1',
    behaviour: 'A requestState that was edited, borrowed or is too old runs nothing.',
    versions: STATELESS,
  },
  {
    id: 'field.L4',
    source: 'field-cases L4',
    behaviour: 'A tool that waits for an answer that cannot come is released.',
  },
]
