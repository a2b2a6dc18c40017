/** What a promise that does not reject comes to; undefined when that takes longer than `ms`. */
export function knownWithin<Value>(ms: number, value: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms)
    void value.then((known) => {
      clearTimeout(timer)
      resolve(known)
    })
  })
}
