import type { Completer } from 'phantom-mcp'
import type { Assigns } from './caller.js'
import type { StudiesDatabase } from './database.js'

/** Completes the id of a study, among those of the caller's account. */
export function studyIds(studies: StudiesDatabase): Completer<Assigns> {
  return (value, session) => studies.idsStartingWith(session.assigns.user.accountId, value)
}
