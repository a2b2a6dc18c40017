import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Engine, freePort } from '../engines/_engine.js'
import { natsMissing, runNats, urlOf as urlOfNats } from '../engines/_nats.js'
import { redisMissing, runRedis, urlOf as urlOfRedis } from '../engines/_redis.js'
import { type Door, NodeSession, questionOn, until } from '../nodes/_calls.js'
import { carries } from '../nodes/_following.js'
import { bundled } from '../stdio/_child.js'

const ENGINES = {
  Redis: { missing: redisMissing, run: runRedis, urlOf: urlOfRedis },
  NATS: { missing: natsMissing, run: runNats, urlOf: urlOfNats },
}
const BOARD = 'board://notes'

describe.each(['Redis', 'NATS'] as const)('the board of two processes over %s', (name) => {
  const { missing, run, urlOf } = ENGINES[name]
  const left = missing ? ` (left out: ${name} is not installed)` : ''

  describe.skipIf(missing)(`on one port${left}`, { timeout: 20_000 }, () => {
    let engine: Engine
    let nodes: ChildProcessWithoutNullStreams
    let board: Door
    let printed = ''
    beforeAll(async () => {
      const program = await bundled("await import('./examples/cluster/main.js')")
      engine = await run()
      board = { port: await freePort() }
      nodes = spawn(process.execPath, [program, urlOf(engine)], { env: { ...process.env, PORT: String(board.port) } })
      nodes.stderr.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
      await until(
        () => printed.includes('node-1 of the board serves') && printed.includes('node-2 of the board serves'),
        () => `two nodes were expected: ${printed}`,
      )
    }, 30_000)
    afterAll(async () => {
      nodes.kill('SIGKILL')
      await engine.end()
    })

    /** What a tool says, in both processes: each connection is one to the next of them. */
    async function posted(author: NodeSession): Promise<readonly unknown[]> {
      const said = new Set<unknown>()
      for (let round = 0; round < 4; round++) {
        const params = { name: 'post_note', arguments: { text: 'Lunch is ready' } }
        const { result } = await author.ask(board, 'tools/call', params)
        said.add((result as { content: [{ text: string }] }).content[0].text)
      }
      return [...said].sort()
    }

    test('tells who follows it of a note, wherever it was posted', async () => {
      const follower = await NodeSession.begin(board, 'ann')
      const stream = await follower.listen(board)
      await follower.ask(board, 'resources/subscribe', { uri: BOARD })
      const author = await NodeSession.begin(board, 'bob')
      const both = ['Posted by node-1; 1 followers were told.', 'Posted by node-2; 1 followers were told.']
      await expect.poll(() => posted(author), { timeout: 4_000 }).toEqual(both)
      await carries(stream, 'notifications/resources/updated')
      expect(await follower.ask(board, 'resources/read', { uri: BOARD })).toMatchObject({
        result: {
          contents: [{ uri: BOARD, mimeType: 'text/plain', text: expect.stringMatching(/^(Lunch is ready\n?)+$/) }],
        },
      })
    })

    test('asks before it is cleared, and has the answer wherever that comes', async () => {
      const session = await NodeSession.begin(board, 'ann')
      for (let round = 0; round < 3; round++) {
        const stream = await session.call(board, 'clear_board', { id: round })
        const result = { action: 'accept', content: { sure: true } }
        expect(await session.post(board, { id: await questionOn(stream, 1), result })).toBe(202)
        await carries(stream, 'Cleared by node-')
      }
      expect(await session.ask(board, 'resources/read', { uri: BOARD })).toMatchObject({
        result: { contents: [{ text: '' }] },
      })
    })

    test('ends all of it when it is told to', async () => {
      const ended = new Promise((resolve) => nodes.once('exit', resolve))
      nodes.kill('SIGTERM')
      expect(await Promise.race([ended, sleep(10_000, 'it runs on', { ref: false })])).toBe(0)
      const complaints = printed.split('\n').filter((line) => line !== '' && !line.includes('of the board serves'))
      expect(complaints).toEqual([])
    })
  })
})
