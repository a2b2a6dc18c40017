/** What a transport lends to one call: a way to send on the call's own stream, and word of the client's hang-up. */
export interface Exchange {
  /**
   * Sends a message on the stream of this call; drops it where the client cannot take one. A promise means that the
   * connection is full, and resolves when it took the message.
   */
  send(message: string): Promise<void> | undefined
  /** Whether the client takes anything before its answer. */
  readonly canStream: boolean
  /** The client does not read: what is sent now is dropped. */
  readonly deaf?: boolean
  /** A message in flight has no connection of its own whose end would tell that it is over. */
  readonly shared?: true
  /** Sends something that is no message, so that the connection is seen to be alive; left out where there is nothing like it. */
  comment?(): Promise<void> | undefined
  /** Lets the connection go while the call runs on, where its answer can be fetched later. */
  finish?(): Promise<void>
  /** Calls back once when the client hangs up; a pipe that has no hang-up of its own leaves it out. */
  onClosed?(listener: () => void): void
}
