import { describe, expect, test } from 'vitest'
import { type Expiring, ExpiryQueue } from './expiry-queue.js'

interface Named extends Expiring {
  readonly name: string
}

const item = (name: string, expiresAt: number): Named => ({ name, expiresAt, place: -1 })

function drain(queue: ExpiryQueue<Named>): string[] {
  const names: string[] = []
  for (let first = queue.first; first !== undefined; first = queue.first) {
    queue.remove(first)
    names.push(first.name)
  }
  return names
}

describe('the order of the queue', () => {
  test('is that of the ends', () => {
    const queue = new ExpiryQueue<Named>()
    for (const one of [item('c', 3), item('a', 1), item('e', 5), item('b', 2), item('d', 4)]) queue.put(one)
    expect(queue.size).toBe(5)
    expect(drain(queue)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(queue.size).toBe(0)
  })

  test('follows an item whose end moves, either way', () => {
    const queue = new ExpiryQueue<Named>()
    const items = [item('a', 1), item('b', 2), item('c', 3), item('d', 4)]
    for (const one of items) queue.put(one)
    items[0]!.expiresAt = 9
    queue.put(items[0]!)
    items[3]!.expiresAt = 0
    queue.put(items[3]!)
    expect(queue.size).toBe(4)
    expect(drain(queue)).toEqual(['d', 'b', 'c', 'a'])
  })

  test('survives items that leave early, twice too', () => {
    const queue = new ExpiryQueue<Named>()
    const items = [item('a', 1), item('b', 2), item('c', 3), item('d', 4)]
    for (const one of items) queue.put(one)
    queue.remove(items[1]!)
    queue.remove(items[1]!)
    queue.remove(items[3]!)
    expect(drain(queue)).toEqual(['a', 'c'])
    queue.put(items[1]!)
    expect(drain(queue)).toEqual(['b'])
  })

  test('survives one that leaves a branch whose ends are later than those of another', () => {
    const queue = new ExpiryQueue<Named>()
    const items = [0, 10, 1, 20, 21, 2, 3, 22, 23, 24, 25, 4, 5, 6, 7].map((end) => item(`at ${end}`, end))
    for (const one of items) queue.put(one)
    queue.remove(items[3]!)
    const late = ['at 10', 'at 21', 'at 22', 'at 23', 'at 24', 'at 25']
    expect(drain(queue)).toEqual(['at 0', 'at 1', 'at 2', 'at 3', 'at 4', 'at 5', 'at 6', 'at 7', ...late])
  })

  test('holds after many arrivals, moves and departures', () => {
    const queue = new ExpiryQueue<Named>()
    const left = new Set<Named>()
    let seed = 7
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 5_000; round += 1) {
      const known = [...left][random(50)]
      if (known === undefined || random(3) === 0) {
        const one = item(String(round), random(1_000))
        queue.put(one)
        left.add(one)
      } else if (random(2) === 0) {
        known.expiresAt = random(1_000)
        queue.put(known)
      } else {
        queue.remove(known)
        left.delete(known)
      }
      expect(queue.first?.expiresAt).toBe(
        left.size === 0 ? undefined : Math.min(...[...left].map((one) => one.expiresAt)),
      )
    }
    expect(queue.size).toBe(left.size)
  })
})
