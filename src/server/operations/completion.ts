import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Catalogue } from '../../router/catalogue.js'
import { type Completer, type Completion, type CompletionContext, toCompletion } from '../../router/completion.js'
import { assertNotDeferred } from '../../router/deferred.js'
import type { CallSession } from '../call-session.js'
import { canComplete } from '../capabilities.js'
import type { OperationHandler } from '../context.js'
import { objectParam, stringParam } from './params.js'

type Members = Readonly<Record<string, unknown>>

export const complete: OperationHandler = async ({ router }, session): Promise<{ completion: Completion }> => {
  if (!canComplete(router, session)) throw new McpError('METHOD_NOT_FOUND', 'This server completes nothing')
  const argument = objectParam(session.params, 'argument')
  const name = memberString(argument, 'argument.name')
  const value = memberString(argument, 'argument.value')
  const completer = completerOf(router.catalogue, session, name)
  const context = contextOf(session.params)
  const returned = completer === undefined ? [] : await completer(value, session as never, context)
  assertNotDeferred('A completer', returned)
  return { completion: toCompletion(returned) }
}

/** @throws McpError `INVALID_PARAMS` for a reference to what the router does not have. */
function completerOf({ prompts, resources }: Catalogue, session: CallSession, name: string): Completer | undefined {
  const ref = objectParam(session.params, 'ref')
  switch (ref['type']) {
    case 'ref/prompt': {
      const wanted = stringParam(ref, 'name')
      const prompt = session.sees('prompts', wanted) ? prompts.get(wanted) : undefined
      if (prompt === undefined) throw new McpError('INVALID_PARAMS', `Unknown prompt: ${wanted}`)
      return prompt.definition.arguments.get(name)?.complete
    }
    case 'ref/resource': {
      const uri = stringParam(ref, 'uri')
      for (const { name: own, definition } of resources.values()) {
        const { template, completers } = definition
        const isMeant = template.uriTemplate === uri || template.pattern === uri
        if (isMeant && session.sees('resourceTemplates', own)) return completers.get(name)
      }
      throw new McpError('INVALID_PARAMS', `Unknown resource template: ${uri}`)
    }
    default:
      throw new McpError('INVALID_PARAMS', "ref.type must be 'ref/prompt' or 'ref/resource'")
  }
}

function contextOf(params: Members): CompletionContext {
  const filled = objectParam(params, 'context')['arguments']
  if (!isObject(filled)) return {}
  const strings = Object.entries(filled).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(strings)
}

function memberString(argument: Members, path: 'argument.name' | 'argument.value'): string {
  const value = argument[path.slice('argument.'.length)]
  if (typeof value !== 'string') throw new McpError('INVALID_PARAMS', `params.${path} must be a string`)
  return value
}
