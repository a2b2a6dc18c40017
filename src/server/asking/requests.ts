import { McpError } from '../../errors.js'
import { isObject, notificationMessage, type ResponseMessage, requestMessage } from '../../protocol/jsonrpc.js'
import type { UrlQuestion } from '../../router/elicit.js'
import { type Answer, missingCapabilities, type Question } from '../../router/question.js'
import type { CallSession } from '../call-session.js'

/** Characters of a client's error message that are handed on. */
const MAX_MESSAGE = 1000

export const UNSUPPORTED = { action: 'unsupported' } as const

export interface RequestQuestion {
  readonly question: Question<unknown>
  readonly timeoutMs: number
  readonly id: string
  /** The way to the client; undefined where there is no stream to send on. */
  readonly send: Send | undefined
}

type Send = (message: string) => Promise<void> | undefined
type Response = ResponseMessage | 'timeout' | 'unsupported'

/** Asks by a request of ours, which the client answers with a response. @throws what the call was ended with. */
export async function askByRequest(session: CallSession, asked: RequestQuestion): Promise<Response> {
  const { question, id, send } = asked
  const { client } = session
  const { elicitationId = id } = question as Partial<UrlQuestion>
  const params = client.codec.encodeQuestion(question.method, question.params, elicitationId)
  const missing = missingCapabilities(question.requires, client.capabilities)
  // A response has to find its way to who waits for it, by the session that it comes with.
  const comesBack = session.shared || session.id !== undefined
  if (params === undefined || missing !== undefined || !comesBack || send === undefined) return 'unsupported'
  session.noteHangUp()
  session.pausing.pause()
  try {
    return await respond(session, { ...asked, send }, requestMessage(id, question.method, params))
  } finally {
    await session.pausing.resume()
  }
}

/** Nobody waits for the client any longer than the call lives. */
function respond(
  session: CallSession,
  { timeoutMs, id, send }: RequestQuestion & { readonly send: Send },
  message: string,
): Promise<Response> {
  const { client, signal } = session
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      client.unexpect(id)
    }
    const withdraw = (reason: string): void => {
      settle()
      send(notificationMessage('notifications/cancelled', { requestId: id, reason }))?.catch(ignore)
    }
    const abort = (): void => {
      withdraw('The call is over')
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      withdraw('There was no answer in time')
      resolve('timeout')
    }, timeoutMs)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    client.expect(id, (response) => {
      if (response === undefined) return session.cancel('The client is gone')
      settle()
      resolve(response)
    })
    send(message)?.catch((error: unknown) => {
      settle()
      reject(error)
    })
  })
}

const ignore = (): void => undefined

/** What a response says; one that does not fit is an error of the client. */
export async function readResponse(question: Question<unknown>, response: Response): Promise<Answer<unknown>> {
  if (typeof response === 'string') return { action: response }
  const { result, error } = response
  if (error !== undefined) return { action: 'error', error: clientFailed(error) }
  const answer = await question.read(result)
  if (answer !== undefined) return answer
  return { action: 'error', error: new McpError('INTERNAL_ERROR', 'The client gave an answer that does not fit') }
}

/** The client has answered with an error. */
export function clientFailed(error: unknown): McpError {
  const told = isObject(error) && typeof error['message'] === 'string' ? error['message'].slice(0, MAX_MESSAGE) : ''
  return new McpError('INTERNAL_ERROR', `The client failed to answer: ${told}`)
}

export function unanswered(): McpError {
  return new McpError('INTERNAL_ERROR', 'The client did not answer in time', { data: { reason: 'timeout' } })
}
