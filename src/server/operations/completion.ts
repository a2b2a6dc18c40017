import { McpError } from '../../errors.js'
import { isObject } from '../../protocol/jsonrpc.js'
import type { Catalogue } from '../../router/catalogue.js'
import { type Completer, type Completion, type CompletionContext, toCompletion } from '../../router/completion.js'
import { canComplete } from '../capabilities.js'
import type { OperationHandler } from '../context.js'
import { objectParam, stringParam } from './params.js'

type Members = Readonly<Record<string, unknown>>

export const complete: OperationHandler = async ({ router }, session): Promise<{ completion: Completion }> => {
  if (!canComplete(router)) throw new McpError('METHOD_NOT_FOUND', 'This server completes nothing')
  const argument = objectParam(session.params, 'argument')
  const name = memberString(argument, 'argument.name')
  const value = memberString(argument, 'argument.value')
  const completer = completerOf(router.catalogue, objectParam(session.params, 'ref'), name)
  const context = contextOf(session.params)
  const returned = completer === undefined ? [] : await completer(value, session as never, context)
  return { completion: toCompletion(returned) }
}

/** @throws McpError `INVALID_PARAMS` for a reference to what the router does not have. */
function completerOf({ prompts, resources }: Catalogue, ref: Members, name: string): Completer | undefined {
  switch (ref['type']) {
    case 'ref/prompt': {
      const prompt = prompts.get(stringParam(ref, 'name'))
      if (prompt === undefined) throw new McpError('INVALID_PARAMS', `Unknown prompt: ${String(ref['name'])}`)
      return prompt.definition.arguments.get(name)?.complete
    }
    case 'ref/resource': {
      const uri = stringParam(ref, 'uri')
      for (const { template, completers } of [...resources.values()].map(({ definition }) => definition)) {
        if (template.uriTemplate === uri || template.pattern === uri) return completers.get(name)
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
