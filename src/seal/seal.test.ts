import { describe, expect, it } from 'vitest'
import { KeyRing } from './key-ring.js'
import { Seal } from './seal.js'

const OLD = 'an old secret, which is long enough to be taken for a real one by anybody'
const NEW = 'a new secret, which is long enough to be taken for a real one by anybody.'
const MUTANTS = 100_000
const AT_ONCE = 500
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const sealOf = (secrets: ConstructorParameters<typeof KeyRing>[1], salt = 'salt'): Seal =>
  new Seal(new KeyRing('test', secrets, salt), 16_384)

async function sealed(seal: Seal, text: string): Promise<string> {
  const made = await seal.seal(text)
  if (made === undefined) throw new Error('too long')
  return made
}

describe('Seal', () => {
  it('opens what it has sealed, whatever the text', async () => {
    const seal = sealOf(OLD)
    for (const text of ['', 'a', 'Ärger 日本 🎈', '\u0000', JSON.stringify({ a: [1, null] })]) {
      expect(await seal.open(await sealed(seal, text))).toBe(text)
    }
  })

  it('never makes the same text twice, and shows nothing of what is inside', async () => {
    const seal = sealOf(OLD)
    const texts = await Promise.all(Array.from({ length: 50 }, () => sealed(seal, 'the same secret')))
    expect(new Set(texts).size).toBe(50)
    for (const text of texts) {
      expect(text).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(Buffer.from(text, 'base64url').toString('latin1')).not.toContain('secret')
    }
  })

  it('seals with the newest secret of a ring, and opens with all of them', async () => {
    const [before, both, after] = [sealOf(OLD), sealOf([NEW, OLD]), sealOf(NEW)]
    const [made, remade] = [await sealed(before, 'x'), await sealed(both, 'y')]
    expect(await both.open(made)).toBe('x')
    expect(await after.open(made)).toBeUndefined()
    expect(await after.open(remade)).toBe('y')
    expect(await before.open(remade)).toBeUndefined()
  })

  it('asks a function for the ring each time', async () => {
    let ring: string | readonly string[] = OLD
    const seal = sealOf(() => ring)
    const made = await sealed(seal, 'x')
    ring = [NEW, OLD]
    expect(await seal.open(made)).toBe('x')
    const remade = await sealed(seal, 'y')
    ring = [NEW]
    expect(await seal.open(made)).toBeUndefined()
    expect(await seal.open(remade)).toBe('y')
    ring = 'short'
    await expect(seal.open(made)).rejects.toThrow(/64 bytes or more/)
  })

  it('tells salts apart', async () => {
    expect(await sealOf(OLD, 'another').open(await sealed(sealOf(OLD), 'x'))).toBeUndefined()
  })

  it('makes nothing that is longer than allowed, and opens nothing that is', async () => {
    const small = new Seal(new KeyRing('test', OLD, 'salt'), 100)
    expect((await small.seal('x'.repeat(38)))?.length).toBe(100)
    expect(await small.seal('x'.repeat(39))).toBeUndefined()
    expect(await small.open(await sealed(sealOf(OLD), 'x'.repeat(39)))).toBeUndefined()
  })

  it('takes none of 100,000 that were changed, and never throws', async () => {
    const seal = sealOf([NEW, OLD])
    const originals = await Promise.all(['', 'x', 'y'.repeat(300)].map((text) => sealed(seal, text)))
    const known = new Set(originals)
    const random = randomOf(20_261_130)
    let tried = 0
    while (tried < MUTANTS) {
      const mutants = Array.from({ length: AT_ONCE }, () => mutant(originals, random)).filter(
        (text) => !known.has(text),
      )
      const opened = await Promise.all(mutants.map((text) => seal.open(text)))
      expect(opened.filter((text) => text !== undefined)).toEqual([])
      tried += mutants.length
    }
  }, 20_000)
})

/** Numbers from 0 to 1 that are the same each time (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function mutant(originals: readonly string[], random: () => number): string {
  const pick = (length: number): number => Math.floor(random() * length)
  const text = originals[pick(originals.length)] ?? ''
  const other = originals[pick(originals.length)] ?? ''
  const at = pick(text.length)
  const letter = ALPHABET[pick(ALPHABET.length)] ?? ''
  const ways = [
    () => text.slice(0, at) + letter + text.slice(at + 1),
    () => text.slice(0, at),
    () => text.slice(at + 1),
    () => text.slice(0, at) + letter + text.slice(at),
    () => text.slice(0, at) + other.slice(at),
    () => `${text}${letter}`,
    () => `${text}=`,
    () => text.slice(0, at) + String.fromCharCode(pick(0x10000)) + text.slice(at + 1),
  ]
  return ways[pick(ways.length)]?.() ?? ''
}
