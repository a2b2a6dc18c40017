/** A call that asks its client before it goes on (2026-07-28 basic/patterns/mrtr, InputRequiredResult). */
export class InputRequiredResult {
  readonly resultType = 'input_required'
  readonly inputRequests?: Readonly<Record<string, object>>
  readonly requestState: string

  constructor({ inputRequests, requestState }: Pick<InputRequiredResult, 'inputRequests' | 'requestState'>) {
    if (inputRequests !== undefined && Object.keys(inputRequests).length > 0) this.inputRequests = inputRequests
    this.requestState = requestState
  }
}
