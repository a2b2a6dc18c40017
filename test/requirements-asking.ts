import type { Requirement } from './requirement.js'

const STATELESS = ['2026-07-28']

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
]
