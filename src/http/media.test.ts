import { describe, expect, test } from 'vitest'
import { accepted, isJsonType } from './media.js'

const BOTH = { json: true, stream: true }
const JSON_ONLY = { json: true, stream: false }
const STREAM_ONLY = { json: false, stream: true }
const NEITHER = { json: false, stream: false }

describe('accepted', () => {
  test.each<[string[], ReturnType<typeof accepted>]>([
    [[], BOTH],
    [['application/json, text/event-stream'], BOTH],
    [['application/json,text/event-stream'], BOTH],
    [['text/event-stream', 'application/json'], BOTH],
    [['*/*'], BOTH],
    [['APPLICATION/JSON'], JSON_ONLY],
    [['application/*'], JSON_ONLY],
    [['application/json;charset=utf-8'], JSON_ONLY],
    [['application/json ; q=1.0'], JSON_ONLY],
    [['text/*'], STREAM_ONLY],
    [['Text/Event-Stream;q=0.001'], STREAM_ONLY],
    [['text/html, text/event-stream'], STREAM_ONLY],
    [['text/html'], NEITHER],
    [['application/jsonp'], NEITHER],
    [['application/json-seq'], NEITHER],
    [['application/json;q=0'], NEITHER],
    [['application/json; Q=0.000'], NEITHER],
    [['*/*;q=0'], NEITHER],
    [['application/json;q=0, text/event-stream'], STREAM_ONLY],
    [['*/*;q=0, application/json'], JSON_ONLY],
    // RFC 9110 12.5.1: the most specific range decides, wherever it stands.
    [['application/json;q=0, */*'], STREAM_ONLY],
    [['*/*, application/json;q=0'], STREAM_ONLY],
    [['text/*;q=0, */*'], JSON_ONLY],
    [['text/*;q=0, text/event-stream'], STREAM_ONLY],
    [['text/event-stream;q=0, text/*, application/json'], JSON_ONLY],
  ])('%j', (values, expected) => {
    expect(accepted(values)).toEqual(expected)
  })
})

describe('isJsonType', () => {
  test.each([
    [['application/json']],
    [['application/json; charset=utf-8']],
    [['Application/JSON']],
    [['application/json;charset="UTF-8"']],
    [['application/json ; foo=bar']],
    [[' application/json']],
  ])('%j is JSON', (values) => {
    expect(isJsonType(values)).toBe(true)
  })

  test.each([
    [[]],
    [['']],
    [['text/plain']],
    [['application/jsonp']],
    [['application/json-patch+json']],
    [['application/x-www-form-urlencoded']],
    [['text/plain; application/json']],
    [['application/json, text/plain']],
    [['application/json', 'text/plain']],
    [['text/plain', 'application/json']],
  ])('%j is not', (values) => {
    expect(isJsonType(values)).toBe(false)
  })
})
