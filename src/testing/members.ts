/** Members of a message, as the wire carried them. */
export type Members = Readonly<Record<string, unknown>>
