import { describe, expect, test } from 'vitest'
import { fixture } from './_fixture.js'
import {
  type Answer,
  codeOf,
  type HeaderList,
  head,
  type Json,
  modern,
  RawSocket,
  resultOf,
  type Sent,
  TARGETS,
  target,
  textBlockOf,
} from './_http.js'

const FAR = 'note://ärger/日本'
const FAR_ENCODED = '=?base64?bm90ZTovL8Okcmdlci/ml6XmnKw=?='
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

const read = (uri: string, name: string | readonly string[] | undefined): Sent =>
  modern('resources/read', { uri }, { id: 4, headers: { 'mcp-name': name } })
const named = (name: string, header: string | readonly string[] | undefined): Sent =>
  modern('tools/call', { name }, { headers: { 'mcp-name': header } })

const verdict = (answer: Answer): [number, unknown] => [answer.status, codeOf(answer)]
const MISMATCH = [400, -32020]

describe.each(TARGETS)('mirrored headers over %s', (kind) => {
  test('E1: an encoded Mcp-Name is decoded', async () => {
    const on = await target(kind, fixture().router)
    const far = await on.send(read(FAR, FAR_ENCODED))
    expect(resultOf(far)).toMatchObject({ contents: [{ uri: FAR, text: 'far away' }] })
    expect(textBlockOf(await on.send(named('größe', '=?base64?Z3LDtsOfZQ==?=')))).toBe('groß')
  })

  test('E1: what needs no encoding may be encoded all the same', async () => {
    const on = await target(kind, fixture().router)
    expect((await on.send(read('notes://plain', base64('notes://plain')))).status).toBe(200)
  })

  test.each([
    ['the marker in capitals', FAR, FAR_ENCODED.replace('base64', 'BASE64')],
    ['another uri', 'notes://plain', 'notes'],
    ['no end of the marker', FAR, FAR_ENCODED.slice(0, -2)],
    ['no beginning of the marker', FAR, FAR_ENCODED.slice(2)],
    ['Base64 without padding', FAR, FAR_ENCODED.replace('=?=', '?=')],
    ['Base64 of the URL kind', 'notes://plain', '=?base64?bm90ZXM6Ly9wbGFpbg?='],
    ['Base64 with a space inside', FAR, FAR_ENCODED.replace('L8Ok', 'L8 Ok')],
    ['Base64 of another text', FAR, base64('note://other')],
    ['Base64 of what is not UTF-8', FAR, `=?base64?${Buffer.from('ärger', 'latin1').toString('base64')}?=`],
    ['empty Base64', FAR, '=?base64??='],
    ['encoded twice', FAR, base64(FAR_ENCODED)],
    ['percent-encoding', FAR, encodeURI(FAR)],
    ['an empty value', 'notes://plain', ''],
    ['no header', 'notes://plain', undefined],
    ['capitals', 'notes://plain', 'NOTES://PLAIN'],
    ['something behind it', 'notes://plain', 'notes://plain x'],
    ['a control character', 'notes://plain', base64('notes://plain\u0000')],
    ['an invisible character', 'notes://plain', base64('notes://\u200Bplain')],
    ['another normal form', FAR, base64(FAR.normalize('NFD'))],
  ])('E1: %s is a mismatch that keeps the id', async (_what, uri, header) => {
    const on = await target(kind, fixture().router)
    const answer = await on.send(read(uri, header))
    expect(verdict(answer)).toEqual(MISMATCH)
    expect(answer.message?.['id']).toBe(4)
    expect((await on.send(read('notes://plain', 'notes://plain'))).status).toBe(200)
  })

  test('a name that looks like the marker is sent encoded', async () => {
    const on = await target(kind, fixture().router)
    const literal = '=?base64?literal?='
    const asIs = await on.send(read(literal, literal))
    expect(verdict(asIs)).toEqual(MISMATCH)
    // The header agrees; there is no such resource.
    const encoded = await on.send(read(literal, '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='))
    expect(verdict(encoded)).toEqual([200, -32602])
  })

  test.each([
    ['mcp-method', 'tools/LIST'],
    ['mcp-method', 'Tools/list'],
    ['mcp-method', 'tools/call'],
    ['mcp-method', ''],
    ['mcp-method', undefined],
    ['mcp-protocol-version', undefined],
  ])('%s: %j against tools/list is a mismatch', async (header, value) => {
    const on = await target(kind, fixture().router)
    expect(verdict(await on.send(modern('tools/list', {}, { headers: { [header]: value } })))).toEqual(MISMATCH)
  })

  test('names of headers have no case, and whitespace around values does not count', async () => {
    const on = await target(kind, fixture().router)
    const { body } = named('noargs', 'noargs')
    const headers = {
      'CONTENT-TYPE': 'application/json',
      'MCP-PROTOCOL-VERSION': '  2026-07-28 ',
      'mCP-mETHOD': '\ttools/call\t',
      'MCP-Name': ' noargs ',
    }
    expect((await on.send({ headers, body })).status).toBe(200)
  })

  test.each(['mcp-method', 'mcp-name', 'mcp-protocol-version'])(
    'smuggling: %s with two different values is a mismatch, whichever comes first',
    async (header) => {
      const { router, entered } = fixture()
      const on = await target(kind, router)
      const right = named('noargs', 'noargs').headers?.[header] as string
      for (const values of [
        [right, 'other'],
        ['other', right],
      ]) {
        const answer = await on.send(modern('tools/call', { name: 'noargs' }, { headers: { [header]: values } }))
        expect(verdict(answer)).toEqual(MISMATCH)
      }
      expect(entered).toEqual([])
    },
  )

  test('Mcp-Name is asked for only where the body has a name', async () => {
    const on = await target(kind, fixture().router)
    expect((await on.send(modern('tools/list', {}, { headers: { 'mcp-name': 'anything' } }))).status).toBe(200)
    const ref = { type: 'ref/prompt', name: 'review' }
    const completion = modern('completion/complete', { ref, argument: { name: 'owner', value: '' } })
    expect(codeOf(await on.send(completion))).not.toBe(-32020)
    const nameless = await on.send(modern('tools/call', { name: 5 }))
    expect(verdict(nameless)).toEqual([200, -32602])
    expect((await on.send(modern('prompts/get', { name: 'review', arguments: { owner: 'a' } }))).status).toBe(200)
    const wrong = modern('prompts/get', { name: 'review' }, { headers: { 'mcp-name': 'other' } })
    expect(verdict(await on.send(wrong))).toEqual(MISMATCH)
  })

  describe('Mcp-Param-*', () => {
    const EU = { 'mcp-param-region': 'eu' }
    const routed = (args: Json, headers: HeaderList): Sent =>
      modern('tools/call', { name: 'routed', arguments: args }, { headers })

    test.each<[string, Json, HeaderList]>([
      ['an integer in decimal', { count: 42 }, { 'mcp-param-count': '42' }],
      ['an integer that is written as 42.0', { count: 42 }, { 'mcp-param-count': '42.0' }],
      ['a negative one', { count: -7 }, { 'mcp-param-count': '-7' }],
      ['zero', { count: 0 }, { 'mcp-param-count': '0' }],
      ['a header name in other case', { count: 42 }, { 'mcp-param-COUNT': '42' }],
      ['whitespace around it', { count: 42 }, { 'Mcp-Param-Count': ' 42\t' }],
      ['a boolean', { dry: false }, { 'mcp-param-dry': 'false' }],
      ['a nested argument', { where: { zone: 'b' } }, { 'mcp-param-zone': 'b' }],
      ['a param that nobody declared', {}, { 'mcp-param-moon': 'full' }],
      ['an encoded value', { where: { zone: '漢字' } }, { 'mcp-param-zone': base64('漢字') }],
      ['a value with spaces around it', { where: { zone: ' b ' } }, { 'mcp-param-zone': base64(' b ') }],
      ['an empty value', { where: { zone: '' } }, { 'mcp-param-zone': '' }],
    ])('E3: %s is right', async (_what, args, headers) => {
      const { router, entered } = fixture()
      const on = await target(kind, router)
      const answer = await on.send(routed({ region: 'eu', ...args }, { ...EU, ...headers }))
      expect(JSON.parse(String(textBlockOf(answer)))).toEqual({ region: 'eu', ...args })
      expect(entered).toEqual(['routed'])
    })

    test.each<[string, Json, HeaderList]>([
      ['another integer', { count: 42 }, { 'mcp-param-count': '43' }],
      ['no header', { count: 42 }, {}],
      ['a header without an argument', {}, { 'mcp-param-count': '42' }],
      ['a header for null', { count: null }, { 'mcp-param-count': 'null' }],
      ['a fraction', { count: 42 }, { 'mcp-param-count': '42.5' }],
      ['an exponent', { count: 100 }, { 'mcp-param-count': '1e2' }],
      ['hexadecimal', { count: 42 }, { 'mcp-param-count': '0x2a' }],
      ['a number with a unit', { count: 42 }, { 'mcp-param-count': '42px' }],
      ['nothing', { count: 0 }, { 'mcp-param-count': '' }],
      ['two values', { count: 42 }, { 'mcp-param-count': ['42', '43'] }],
      ['other digits', { count: 42 }, { 'mcp-param-count': base64('４２') }],
      ['a boolean in capitals', { dry: true }, { 'mcp-param-dry': 'TRUE' }],
      ['a boolean as a number', { dry: true }, { 'mcp-param-dry': '1' }],
      ['a nested argument without its header', { where: { zone: 'b' } }, {}],
      ['another case of a string', { where: { zone: 'b' } }, { 'mcp-param-zone': 'B' }],
      ['broken Base64', { where: { zone: 'b' } }, { 'mcp-param-zone': '=?base64?!?=' }],
      ['a region that is missing in the body only', { region: undefined }, {}],
    ])('E3: %s is a mismatch, and the tool does not run', async (_what, args, headers) => {
      const { router, entered } = fixture()
      const on = await target(kind, router)
      const answer = await on.send(routed({ region: 'eu', ...args }, { ...EU, ...headers }))
      expect(verdict(answer)).toEqual(MISMATCH)
      expect(entered).toEqual([])
    })

    test('E3: null without a header is left to the schema', async () => {
      const on = await target(kind, fixture().router)
      const answer = await on.send(routed({ region: 'eu', count: null }, EU))
      expect(answer.status).toBe(200)
      expect(resultOf(answer)).toMatchObject({ isError: true })
    })

    test('names of prototypes are no arguments', async () => {
      const on = await target(kind, fixture().router)
      const sent = routed({ region: 'eu' }, { ...EU, 'mcp-param-constructor': 'x', 'mcp-param-__proto__': 'y' })
      expect((await on.send(sent)).status).toBe(200)
      const own = JSON.parse((sent.body as string).replace('{"region"', '{"__proto__":{"count":1},"region"')) as Json
      expect((await on.send({ ...sent, body: JSON.stringify(own) })).status).toBe(200)
    })
  })
})

describe('mirrored headers as bytes', () => {
  const exchange = async (sent: Sent, name: Uint8Array): Promise<RawSocket> => {
    const on = await target('node', fixture().router)
    const socket = await RawSocket.connect(on.serving?.port ?? 0)
    const length = String(Buffer.byteLength(sent.body as string))
    const [before, after] = head(sent, { connection: 'close', 'content-length': length, 'mcp-name': '@' }).split('@')
    await socket.write(Buffer.concat([Buffer.from(before ?? ''), name, Buffer.from(after ?? '')]))
    await socket.write(sent.body as string)
    await socket.ended
    return socket
  }

  test.each([
    ['UTF-8', Buffer.from(FAR, 'utf8')],
    ['Latin-1', Buffer.from('note://ärger', 'latin1')],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFnotes://plain', 'utf8')],
    ['a no-break space', Buffer.from('notes://plain\u00a0', 'latin1')],
  ])('E1: %s in a header is a mismatch', async (_what, bytes) => {
    const uri = bytes.includes(Buffer.from('plain')) ? 'notes://plain' : FAR
    const socket = await exchange(read(uri, undefined), bytes)
    expect(socket.status).toBe(400)
    expect(JSON.parse(socket.body)).toMatchObject({ id: 4, error: { code: -32020 } })
  })

  test('E1: Latin-1 is a mismatch for the name that it spells', async () => {
    const sent = modern('tools/call', { name: 'größe' }, { id: 4, headers: { 'mcp-name': undefined } })
    const socket = await exchange(sent, Buffer.from('größe', 'latin1'))
    expect(socket.status).toBe(400)
    expect(JSON.parse(socket.body)).toMatchObject({ id: 4, error: { code: -32020 } })
  })
})
