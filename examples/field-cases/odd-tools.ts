import { field, type Router, Tool, type ToolResult } from 'phantom-mcp'
import type { Counters } from './counters.js'
import { NUMBER_SCHEMA } from './schemas.js'

/** The tools that answer with what JSON or their own schema does not hold, or not at all. */
export function addOddTools<Assigns extends object>(router: Router<Assigns>, counters: Counters): void {
  router.tool(
    'val',
    { description: 'Returns a chosen structured value.', input: { which: field.string({ required: true }) } },
    ({ which }) => {
      counters.enter('val')
      const value = makeValue(which)
      return Tool.content([Tool.text(printed(value))], { structured: value })
    },
  )
  router.tool(
    'boom',
    { description: 'Throws.', input: { how: field.string({ required: true }) } },
    ({ how }): string => {
      counters.enter('boom')
      // What a careless handler throws is not always an Error.
      throw how === 'undefined' ? undefined : how === 'string' ? 'boom happened' : new Error('boom happened')
    },
  )
  router.tool(
    'out',
    {
      description: 'Keeps its output schema, or does not.',
      input: { mode: field.string({ required: true }) },
      outputSchema: NUMBER_SCHEMA,
    },
    ({ mode }) => {
      counters.enter('out')
      return makeOutput(mode)
    },
  )
}

function makeValue(which: string): unknown {
  const values: Readonly<Record<string, unknown>> = {
    zero: 0,
    false: false,
    empty: '',
    null: null,
    arr: [],
    objs: [{ id: '1' }],
    str: 'x',
    bigint: { n: 10n },
    undef: undefined,
    func: () => 'a function',
    nan: { n: Number.NaN },
    inf: { n: Number.POSITIVE_INFINITY },
  }
  if (which === 'cyclic') return makeCycle()
  if (which === 'tojson')
    return {
      toJSON: () => {
        throw new Error('toJSON throws')
      },
    }
  return values[which]
}

function makeCycle(): object {
  const cycle: { self?: object } = {}
  cycle.self = cycle
  return cycle
}

function printed(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'unprintable'
  } catch {
    return 'unprintable'
  }
}

function makeOutput(mode: string): object | ToolResult {
  switch (mode) {
    case 'a':
      throw new Error('thrown failure')
    case 'b':
      return Tool.error('plain failure')
    case 'c':
      return Tool.content([Tool.text('failure with a reason')], { structured: { why: 'quota' }, isError: true })
    case 'd':
      return Tool.text('nothing structured')
    case 'e':
      return { n: '1' }
    case 'f':
      return { n: 1, x: 2 }
    case 'nan':
      return { n: Number.NaN }
    default:
      return { n: 1 }
  }
}
