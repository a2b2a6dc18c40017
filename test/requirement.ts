/** What the server has to do, where that is written, and in which cells of the matrix it applies: everywhere unless said. */
export interface Requirement {
  readonly id: string
  /** Section of the specification (`26/…` is 2026-07-28, `25/…` 2025-11-25), JSON-RPC, a decision, a page of `docs/`, or a field case. */
  readonly source: string
  readonly behaviour: string
  readonly versions?: readonly string[]
  readonly transports?: readonly string[]
}
