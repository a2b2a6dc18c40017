import { expect, onTestFinished, test, vi } from 'vitest'
import { MemoryPubSub } from '../backplane/memory-pub-sub.js'
import { StandingSubscription } from './standing-subscription.js'

test('stands once the backplane is there, and says once that it was not', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const pubSub = new MemoryPubSub()
  const away = new Error('away')
  vi.spyOn(pubSub, 'subscribe').mockRejectedValueOnce(away).mockRejectedValueOnce(away)
  const heard: string[] = []
  const reported: unknown[] = []
  const subscription = new StandingSubscription({
    pubSub,
    topic: 'topic',
    listener: (message) => heard.push(message),
    retryMs: 100,
    report: (error) => reported.push(error),
  })
  await subscription.tried
  for (let times = 0; times < 2; times++) {
    await pubSub.publish('topic', 'lost')
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(vi.getTimerCount()).toBe(0)
  await pubSub.publish('topic', 'heard')
  await vi.waitFor(() => expect(heard).toEqual(['heard']))
  expect(reported).toEqual([away])
  await subscription.end()
  await pubSub.publish('topic', 'late')
  await Promise.resolve()
  expect(heard).toEqual(['heard'])
})
