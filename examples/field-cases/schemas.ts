import type { JsonSchema } from 'phantom-mcp'

export interface TreeNode {
  readonly name: string
  readonly kids?: readonly TreeNode[]
}

export const TREE_SCHEMA: JsonSchema = {
  type: 'object',
  properties: { node: { $ref: '#/$defs/n' } },
  required: ['node'],
  $defs: {
    n: {
      type: 'object',
      properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#/$defs/n' } } },
      required: ['name'],
    },
  },
}

export const SHARED_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    start: { type: 'string', description: 'the start' },
    end: { $ref: '#/properties/start', description: 'the end' },
  },
}

export const REGION_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    region: { type: 'string', 'x-mcp-header': 'Region' },
  },
  required: ['region'],
}

export const NUMBER_SCHEMA: JsonSchema = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
  additionalProperties: false,
}
