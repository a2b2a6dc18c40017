/** A running call, as far as whoever answers it from elsewhere, or tells its progress, has to do with it. */
export interface ReferredCall {
  readonly closed: boolean
  /** Takes the client's hang-up for a cancelled call, where the version says so. */
  watchClient(): void
  /** Tells once when the call is over, in whatever way. */
  onOver(listener: () => void): void
  /** Tells the handler that its time is up. */
  expire(reason: Error): void
  notifyProgress(progress: number, total?: number, message?: string): Promise<void>
}
