/** The two paths of HTTP+SSE, for clients of 2024-11-05. */
export interface Sse2024Options {
  /** Where the stream is opened. @default '/sse' */
  readonly streamPath?: string
  /** Where its client posts to. @default '/messages' */
  readonly messagePath?: string
}
