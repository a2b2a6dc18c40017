/** Something that ends at a time, in milliseconds. */
export interface Expiring {
  expiresAt: number
  /** Where the queue has it; -1 while it has not. Only the queue writes this. */
  place: number
}

/** Items in the order in which they end: a binary heap whose items know their place, so that one can move or leave early. */
export class ExpiryQueue<Item extends Expiring> {
  readonly #heap: Item[] = []

  get size(): number {
    return this.#heap.length
  }

  /** The one that ends first. */
  get first(): Item | undefined {
    return this.#heap[0]
  }

  /** Takes an item in, or to its new place after its `expiresAt` has changed. */
  put(item: Item): void {
    if (item.place < 0) item.place = this.#heap.push(item) - 1
    this.#rise(item)
    this.#sink(item)
  }

  remove(item: Item): void {
    if (item.place < 0) return
    const last = this.#heap.pop()
    if (last !== undefined && last !== item) {
      this.#seat(last, item.place)
      this.#rise(last)
      this.#sink(last)
    }
    item.place = -1
  }

  #seat(item: Item, place: number): void {
    this.#heap[place] = item
    item.place = place
  }

  #swap(one: Item, other: Item): void {
    const place = one.place
    this.#seat(one, other.place)
    this.#seat(other, place)
  }

  #rise(item: Item): void {
    while (item.place > 0) {
      const parent = this.#heap[(item.place - 1) >> 1]
      if (parent === undefined || parent.expiresAt <= item.expiresAt) return
      this.#swap(parent, item)
    }
  }

  #sink(item: Item): void {
    for (;;) {
      const child = this.#firstChild(item)
      if (child === undefined || child.expiresAt >= item.expiresAt) return
      this.#swap(child, item)
    }
  }

  #firstChild(item: Item): Item | undefined {
    const left = this.#heap[2 * item.place + 1]
    const right = this.#heap[2 * item.place + 2]
    return left !== undefined && right !== undefined && right.expiresAt < left.expiresAt ? right : left
  }
}
