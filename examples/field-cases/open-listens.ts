import { tracingChannel } from 'node:diagnostics_channel'
import type { DispatchEvent } from 'phantom-mcp'

const open = new Set<object>()
const nothing = (): void => undefined

// The framework tells of each request where it begins and ends; a listen lasts as long as its stream.
tracingChannel('phantom:dispatch').subscribe({
  start: (event: object) => {
    if ((event as DispatchEvent).method === 'subscriptions/listen') open.add(event)
  },
  asyncEnd: (event: object) => void open.delete(event),
  end: nothing,
  asyncStart: nothing,
  error: nothing,
})

/** `subscriptions/listen` streams that are open in this process. */
export function openListens(): number {
  return open.size
}
