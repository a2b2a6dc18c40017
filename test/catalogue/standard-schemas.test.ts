import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import { createRouter, type Session } from 'phantom-mcp'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeMatrix } from '../_setup.js'

// Each library with what it gives by itself: zod 4 and arktype their JSON Schema, valibot through its converter.
const SCHEMAS = {
  'zod 4': {
    input: z.object({ name: z.string().min(2), times: z.number().default(1) }),
    output: z.object({ greeting: z.string() }),
    arguments: z.object({ study: z.string().min(2), pages: z.string().transform(Number).optional() }),
  },
  arktype: {
    input: type({ name: 'string >= 2', times: 'number = 1' }),
    output: type({ greeting: 'string' }),
    arguments: type({ study: 'string >= 2' }),
  },
  valibot: {
    input: toStandardJsonSchema(
      v.object({ name: v.pipe(v.string(), v.minLength(2)), times: v.optional(v.number(), 1) }),
    ),
    output: toStandardJsonSchema(v.object({ greeting: v.string() })),
    arguments: toStandardJsonSchema(v.object({ study: v.pipe(v.string(), v.minLength(2)) })),
  },
} as const

for (const [library, schemas] of Object.entries(SCHEMAS)) {
  describeMatrix(`schemas of ${library}`, {}, (setup, { version }) => {
    const asResult = version >= '2025-11-25'

    test('check and parse what a tool is given', async () => {
      const router = createRouter({ name: 'schemas', version: '1.0.0' })
      router.tool('greet', { input: schemas.input }, (params) => JSON.stringify(params))
      const client = await setup(router)
      const [listed] = (await client.list('tools'))['tools'] as { inputSchema: Record<string, unknown> }[]
      expect(listed?.inputSchema).toMatchObject({ type: 'object', required: ['name'] })
      const { content } = await client.callTool('greet', { name: 'Ada' })
      expect(JSON.parse((content[0] as unknown as { text: string }).text)).toEqual({ name: 'Ada', times: 1 })
      const bad = client.callTool('greet', { name: 'A' })
      if (asResult) expect(await bad).toMatchObject({ isError: true })
      else await expect(bad).rejects.toMatchObject({ code: -32602 })
    })

    test('check what a tool returns', async () => {
      const router = createRouter({ name: 'schemas', version: '1.0.0' })
      const handler = (_params: unknown, session: Session): { greeting: string } =>
        session.call.name === 'good' ? { greeting: 'Hello' } : ({ greeting: 5 } as never)
      router.tool('good', { output: schemas.output }, handler)
      router.tool('bad', { output: schemas.output }, handler)
      const client = await setup(router)
      expect((await client.callTool('good')).content).toEqual([{ type: 'text', text: '{"greeting":"Hello"}' }])
      expect(await client.callTool('bad')).toMatchObject({ isError: true })
      setup.expectErrors(1)
    })

    test('check the arguments of a prompt', async () => {
      const router = createRouter({ name: 'schemas', version: '1.0.0' })
      router.prompt(
        'review',
        { arguments: schemas.arguments, complete: { study: (value) => [`${value}-1`] } },
        ({ study }) => `Review ${study}`,
      )
      const client = await setup(router)
      const [listed] = (await client.list('prompts'))['prompts'] as { arguments: { name: string }[] }[]
      expect(listed?.arguments[0]).toEqual({ name: 'study', required: true })
      expect((await client.getPrompt('review', { study: 'ab' })).messages).toEqual([
        { role: 'user', content: { type: 'text', text: 'Review ab' } },
      ])
      await expect(client.getPrompt('review', { study: 'a' })).rejects.toMatchObject({ code: -32602 })
      await expect(client.getPrompt('review')).rejects.toMatchObject({ code: -32602 })
      const { completion } = await client.complete({ prompt: 'review' }, { name: 'study', value: 'x' })
      expect(completion.values).toEqual(['x-1'])
    })
  })
}

test('a bare valibot schema says what it needs', () => {
  const router = createRouter({ name: 'schemas', version: '1.0.0' })
  const bare = v.object({ name: v.string() })
  expect(() => router.tool('greet', { input: bare }, () => 'hi')).toThrow(
    /^tool 'greet' input: this valibot schema cannot give its JSON Schema/,
  )
})

test('completers name arguments that there are', () => {
  const router = createRouter({ name: 'schemas', version: '1.0.0' })
  const make = () =>
    router.prompt('review', { arguments: z.object({ a: z.string() }), complete: { b: () => [] } }, () => 'x')
  expect(make).toThrow("prompt 'review': complete names 'b', which the schema of its arguments does not have")
})
