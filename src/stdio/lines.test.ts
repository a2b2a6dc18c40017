import { describe, expect, test } from 'vitest'
import { type Line, LineSplitter } from './lines.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (line: Line | undefined): string | undefined =>
  line instanceof Uint8Array ? new TextDecoder().decode(line) : line
const push = (splitter: LineSplitter, text: string): (string | undefined)[] => splitter.push(encode(text)).map(decode)

describe('lines', () => {
  test('are given when they are whole', () => {
    const splitter = new LineSplitter(100)
    expect(push(splitter, 'a')).toEqual([])
    expect(push(splitter, 'b\ncd')).toEqual(['ab'])
    expect(push(splitter, '\n\n')).toEqual(['cd', ''])
    expect(splitter.rest()).toBeUndefined()
  })

  test('end in LF or CRLF, and keep other carriage returns', () => {
    expect(push(new LineSplitter(100), 'a\r\nb\rc\n\r\n')).toEqual(['a', 'b\rc', ''])
    const splitter = new LineSplitter(100)
    expect(push(splitter, 'a\r')).toEqual([])
    expect(push(splitter, '\n')).toEqual(['a'])
  })

  test('may be cut at every byte', () => {
    const text = '{"text":"naïve — 漢字 🧭"}\nzwei\n'
    const bytes = encode(text)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const splitter = new LineSplitter(100)
      const lines = [...splitter.push(bytes.subarray(0, cut)), ...splitter.push(bytes.subarray(cut))]
      expect(lines.map(decode)).toEqual(text.trim().split('\n'))
    }
    const splitter = new LineSplitter(100)
    expect(
      Array.from(bytes, (byte) => splitter.push(Uint8Array.of(byte)))
        .flat()
        .map(decode),
    ).toEqual(text.trim().split('\n'))
  })

  test('without an end are the rest', () => {
    const splitter = new LineSplitter(100)
    push(splitter, 'a\nb')
    expect(decode(splitter.rest())).toBe('b')
    expect(splitter.rest()).toBeUndefined()
  })

  test('may have so many bytes', () => {
    const splitter = new LineSplitter(4)
    expect(push(splitter, 'abcd\nabcde\nxyz\n')).toEqual(['abcd', 'too-long', 'xyz'])
    expect(push(splitter, 'ab')).toEqual([])
    expect(push(splitter, 'cde')).toEqual([])
    expect(push(splitter, 'f'.repeat(100))).toEqual([])
    expect(push(splitter, '\nok\n')).toEqual(['too-long', 'ok'])
    expect(push(splitter, 'éé\nééé\n')).toEqual(['éé', 'too-long'])
    expect(push(splitter, 'toolong')).toEqual([])
    expect(decode(splitter.rest())).toBe('too-long')
  })
})
