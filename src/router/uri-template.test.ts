import { describe, expect, test } from 'vitest'
import { compareSpecificity, uriTemplate } from './uri-template.js'

const of = (pattern: string) => uriTemplate('resource "r"', pattern)
const match = (pattern: string, uri: string) => {
  const values = of(pattern).match(uri)
  return values === undefined ? undefined : { ...values }
}

describe('what a template says about itself', () => {
  test.each([
    ['https://example.com/studies/:id/md', 'https://example.com/studies/{id}/md', ['id'], ['id']],
    ['files:///docs/*rest', 'files:///docs/{+rest}', ['rest'], ['rest']],
    ['files:///*rest{?rev}', 'files:///{+rest}{?rev}', ['rest', 'rev'], ['rest']],
    ['x:///:id.json', 'x:///{id}.json', ['id'], ['id']],
    ['shop://items{?q,page}', 'shop://items{?q,page}', ['q', 'page'], []],
    ['shop://items?a=1{&x}', 'shop://items?a=1{&x}', ['x'], []],
    ['x://{id}{/a,b}{.ext}{;v}{#top}', 'x://{id}{/a,b}{.ext}{;v}{#top}', ['id', 'a', 'b', 'ext', 'v', 'top'], ['id']],
    ['x:///{code:3}/{list*}', 'x:///{code:3}/{list*}', ['code', 'list'], ['code', 'list']],
    ['x://h{?a}{&b}', 'x://h{?a,b}', ['a', 'b'], []],
    ['note://ärger/:id', 'note://ärger/{id}', ['id'], ['id']],
  ])('%s', (...[pattern, advertised, names, required]) => {
    const template = of(pattern)
    expect(template.pattern).toBe(pattern)
    expect(template.uriTemplate).toBe(advertised)
    expect(template.names).toEqual(names)
    expect(template.required).toEqual(required)
    expect(template.fixed).toBe(false)
  })

  test.each([
    'x://settings',
    'notes://plain',
    'urn:isbn:123',
    'urn:x:y',
    'http://host:8080/x',
    'http://:8080/x',
    'http://[::1]:8080/x',
    'http://user:secret@host/x',
    'myapp:///',
    'x:///:8/a:b/c*d/*.txt',
    'x:///a?to=/:b#/:c',
    'note://ärger/日本',
  ])('%s is fixed', (pattern) => {
    const template = of(pattern)
    expect(template.fixed).toBe(true)
    expect(template.names).toEqual([])
    expect(template.uriTemplate).toBe(pattern)
    expect(template.expand({})).toBe(pattern)
    expect(match(pattern, pattern)).toEqual({})
  })
})

describe('segment variables and globs', () => {
  test.each([
    ['https://example.com/studies/:id/md', 'https://example.com/studies/7/md', { id: '7' }],
    ['https://example.com/studies/:id/md', 'https://example.com/studies/a%2Fb/md', { id: 'a/b' }],
    ['https://example.com/studies/:id/md', 'https://example.com/studies/a/b/md', undefined],
    ['https://example.com/studies/:id/md', 'https://example.com/studies//md', undefined],
    ['https://example.com/studies/:id/md', 'https://example.com/studies/7/md/', undefined],
    ['https://example.com/studies/:id', 'https://example.com/studies/', undefined],
    ['https://example.com/studies/:id', 'https://example.com/studies/7?x=1', undefined],
    ['https://example.com/studies/:id', 'https://example.com/studies/7#x', undefined],
    ['https://example.com/studies/:id', 'https://other.example/studies/7', undefined],
    ['https://example.com/studies/:id', 'http://example.com/studies/7', undefined],
    ['myapp:///studies/:id', 'myapp:///studies/7', { id: '7' }],
    ['myapp:///studies/:id', 'myapp://studies/7', undefined],
    ['x://host/:first', 'x://host/1', { first: '1' }],
    ['x:/:first', 'x:/1', { first: '1' }],
    ['x:///:_a1', 'x:///v', { _a1: 'v' }],
    ['http://host:8080/:id', 'http://host:8080/1', { id: '1' }],
    ['http://host:8080/:id', 'http://host:8081/1', undefined],
    ['x:///:id.json', 'x:///a.b.json', { id: 'a.b' }],
    ['x:///:a/:b', 'x:///1/2', { a: '1', b: '2' }],
    ['x:///:a/:b', 'x:///a:b,c;d=e@f/2', { a: 'a:b,c;d=e@f', b: '2' }],
    ['files:///docs/*rest', 'files:///docs/a', { rest: 'a' }],
    ['files:///docs/*rest', 'files:///docs/a/b%20c/d.md', { rest: 'a/b c/d.md' }],
    ['files:///docs/*rest', 'files:///docs/', undefined],
    ['files:///docs/*rest', 'files:///docs', undefined],
    ['files:///docs/*rest', 'files:///docs/a?x=1', undefined],
    ['files:///*rest{?rev}', 'files:///a/b?rev=2', { rest: 'a/b', rev: '2' }],
    ['files:///*rest{?rev}', 'files:///a/b', { rest: 'a/b' }],
  ])('%s on %s', (pattern, uri, values) => {
    expect(match(pattern, uri)).toEqual(values)
  })
})

describe('RFC 6570 expressions', () => {
  test.each([
    ['shop://items', {}],
    ['shop://items?q=tea', { q: 'tea' }],
    ['shop://items?page=2', { page: '2' }],
    ['shop://items?q=green%20tea&page=2', { q: 'green tea', page: '2' }],
    ['shop://items?page=2&q=tea', { q: 'tea', page: '2' }],
    ['shop://items?q=', { q: '' }],
    ['shop://items?q', { q: '' }],
    ['shop://items?', {}],
    ['shop://items?q=a+b', { q: 'a+b' }],
    ['shop://items?q=a%2Bb', { q: 'a+b' }],
    ['shop://items?q=a%2526b', { q: 'a%26b' }],
    ['shop://items?q=a=b/c?d', { q: 'a=b/c?d' }],
    ['shop://items?%71=tea', { q: 'tea' }],
    ['shop://item', undefined],
    ['shop://itemsq=tea', undefined],
    ['shop://items/?q=tea', undefined],
    ['shop://items?q=tea&sort=up', undefined],
    ['shop://items?Q=tea', undefined],
    ['shop://items?q=a&q=b', undefined],
    ['shop://items?q=tea#top', undefined],
  ])('shop://items{?q,page} on %s', (uri, values) => {
    expect(match('shop://items{?q,page}', uri)).toEqual(values)
  })

  test('a missing query variable is absent, not undefined', () => {
    expect(Object.keys(of('shop://items{?q,page}').match('shop://items?page=2') ?? {})).toEqual(['page'])
  })

  test.each([
    ['notes://{id}', 'notes://MyNote', { id: 'MyNote' }],
    ['notes://{id}', 'notes://a/b', undefined],
    ['notes://{id}', 'notes://', undefined],
    ['x:///{a,b}', 'x:///1,2', { a: '1', b: '2' }],
    ['x:///{a,b}', 'x:///1', undefined],
    ['x:///{a}-{b}-{c}', 'x:///1-2-3-4', { a: '1', b: '2', c: '3-4' }],
    ['x:///{a}F{b}', 'x:///1%2F2F3', { a: '1/2', b: '3' }],
    ['x:///{+path}', 'x:///a/b%20c', { path: 'a/b c' }],
    ['proxy:///{+url}', 'proxy:///https://h/p?q=1#f', { url: 'https://h/p?q=1#f' }],
    ['x://h{+path}/here', 'x://h/foo/here/here', { path: '/foo/here' }],
    ['x://h{+path}/here', 'x://h/foo', undefined],
    ['x://h{+path}{?q}', 'x://h/foo?q=1', { path: '/foo', q: '1' }],
    ['x://h/p{#frag}', 'x://h/p#a/b,c', { frag: 'a/b,c' }],
    ['x://h/p{#frag}', 'x://h/p', {}],
    ['x://h/p{#a,b}', 'x://h/p#1,2', { a: '1', b: '2' }],
    ['x://h/{name}{.ext}', 'x://h/a.tar.gz', { name: 'a', ext: 'tar.gz' }],
    ['x://h/{name}{.ext}', 'x://h/readme', { name: 'readme' }],
    ['x://h/f{.a,b}', 'x://h/f.1.2', { a: '1', b: '2' }],
    ['x://h{/a,b}', 'x://h', {}],
    ['x://h{/a,b}', 'x://h/1', { a: '1' }],
    ['x://h{/a,b}', 'x://h/1/2', { a: '1', b: '2' }],
    ['x://h{/a,b}', 'x://h/1/2/3', undefined],
    ['x://h{/a,b}', 'x://h/', undefined],
    ['x://h{/a}/end', 'x://h/1/end', { a: '1' }],
    ['x://h{/a}/end', 'x://h/end', {}],
    ['x://h/p{;x,y}', 'x://h/p;x=1;y=2', { x: '1', y: '2' }],
    ['x://h/p{;x,y}', 'x://h/p;y=2;x=1', { x: '1', y: '2' }],
    ['x://h/p{;x,y}', 'x://h/p;x', { x: '' }],
    ['x://h/p{;x,y}', 'x://h/p', {}],
    ['x://h/p{;x,y}', 'x://h/p;z=1', undefined],
    ['x://h/{id}{;v}/z', 'x://h/7;v=1/z', { id: '7', v: '1' }],
    ['x://h?a=1{&x,y}', 'x://h?a=1&y=2&x=1', { x: '1', y: '2' }],
    ['x://h?a=1{&x,y}', 'x://h?a=1', {}],
    ['x://h?a=1{&x,y}', 'x://h?x=1', undefined],
    ['x://h?q={q}&p={p}', 'x://h?q=&p=2', { q: '', p: '2' }],
    ['x://h{?a}{&b}', 'x://h?b=1', { b: '1' }],
    ['x://h{?a}{#f}', 'x://h?a=1#2', { a: '1', f: '2' }],
    ['x://h{?a}#top', 'x://h?a=1#top', { a: '1' }],
    ['x://h/{code:3}', 'x://h/abc', { code: 'abc' }],
    ['x://h/{code:3}', 'x://h/🧭🧭🧭', { code: '🧭🧭🧭' }],
    ['x://h/{code:3}', 'x://h/abcd', undefined],
    ['x://h{?code:3}', 'x://h?code=abcd', undefined],
    ['x://h/{list*}', 'x://h/a,b%2Cc', { list: ['a', 'b,c'] }],
    ['x://h{/list*}', 'x://h/a/b%2Fc', { list: ['a', 'b/c'] }],
    ['x://h{/list*,last}', 'x://h/a/b/c', { list: ['a', 'b'], last: 'c' }],
    ['x://h/X{.list*}', 'x://h/X.a.b', { list: ['a', 'b'] }],
    ['x://h/p{;list*}', 'x://h/p;list=a;list=b', { list: ['a', 'b'] }],
    ['x://h{?list*,q}', 'x://h?list=a&q=1&list=b', { list: ['a', 'b'], q: '1' }],
    ['x://h{?list*}', 'x://h?list=a', { list: ['a'] }],
    ['x://h{?list}', 'x://h?list=a,b', { list: 'a,b' }],
    ['x://{a.b}', 'x://1', { 'a.b': '1' }],
  ])('%s on %s', (pattern, uri, values) => {
    expect(match(pattern, uri)).toEqual(values)
  })
})

describe('equal spellings', () => {
  test.each([
    ['note://ärger/日本', 'note://ärger/日本', true],
    ['note://ärger/日本', 'note://%C3%A4rger/%E6%97%A5%E6%9C%AC', true],
    ['note://ärger/日本', 'note://%c3%a4rger/%e6%97%a5本', true],
    ['note://%C3%A4rger/x', 'note://ärger/x', true],
    ['note://ärger/日本', 'note://arger/日本', false],
    ['x://settings', 'X://Settings', true],
    ['X://Settings', 'x://settings', true],
    ['x://settings/Path', 'x://settings/path', false],
    ['x://settings', 'x://settings/', false],
    ['x://settings', 'x://settings?', false],
    ['x://settings', 'x://settings2', false],
    ['ssh://Git@Host/x', 'SSH://Git@host/x', true],
    ['ssh://Git@Host/x', 'ssh://git@host/x', false],
    ['urn:isbn:123', 'URN:isbn:123', true],
    ['urn:isbn:123', 'urn:ISBN:123', false],
    ['https://example.com/a', 'https://example.com:443/a', true],
    ['https://example.com:443/a', 'HTTPS://EXAMPLE.COM/a', true],
    ['http://example.com/a', 'http://example.com:80/a', true],
    ['http://example.com/a', 'http://example.com:443/a', false],
    ['https://example.com:8443/a', 'https://example.com/a', false],
    ['https://example.com:8443/a', 'https://example.com:8443:443/a', false],
    ['x://example.com/a', 'x://example.com:80/a', false],
    ['https://example.com', 'https://example.com/', true],
    ['https://example.com/', 'https://example.com:443', true],
    ['https://example.com/?a=1', 'https://example.com?a=1', true],
    ['https://example.com', 'https://example.com//', false],
    ['x:///a%20b', 'x:///a b', true],
    ['x:///a~b', 'x:///%61%7Eb', true],
    ['x:///a/b', 'x:///a%2Fb', false],
    ['x:///a%2fb', 'x:///a%2Fb', true],
  ])('%s and %s: %s', (pattern, uri, equal) => {
    expect(match(pattern, uri)).toEqual(equal ? {} : undefined)
  })

  test('default ports and empty paths beside variables', () => {
    expect(match('https://example.com/:id', 'https://EXAMPLE.com:443/Ab')).toEqual({ id: 'Ab' })
    expect(match('https://example.com{?q}', 'https://example.com/?q=1')).toEqual({ q: '1' })
    expect(match('https://example.com/{?q}', 'https://example.com?q=1')).toEqual({ q: '1' })
    expect(match('https://example.com{/a}', 'https://example.com/1')).toEqual({ a: '1' })
    expect(match('https://h:{port}/x', 'https://h:443/x')).toEqual({ port: '443' })
  })
})

describe('hostile URIs', () => {
  test.each([
    ['x:///:id', 'x:///%'],
    ['x:///:id', 'x:///%zz'],
    ['x:///:id', 'x:///a%4'],
    ['x:///:id', 'x:///%FF'],
    ['x:///:id', 'x:///%C3'],
    ['x:///:id', 'x:///%C3/%A4'],
    ['x:///:id', 'x:///\uD800'],
    ['x:///a{?q}', 'x:///a?q=%E0%A4%A'],
    ['x://settings', 'x://settings%'],
    ['x://settings', ''],
    ['x://settings', ':'],
    ['x://settings', 'not a uri'],
  ])('%s does not match %j and does not throw', (pattern, uri) => {
    expect(match(pattern, uri)).toBeUndefined()
  })

  test('names of Object.prototype are names like any other', () => {
    const values = of('x:///:constructor{?__proto__,toString}').match('x:///a?__proto__=b')
    expect(Object.getPrototypeOf(values)).toBeNull()
    expect(Object.entries(values ?? {})).toEqual([
      ['constructor', 'a'],
      ['__proto__', 'b'],
    ])
    expect(match('x:///a{?q}', 'x:///a?__proto__=b')).toBeUndefined()
    expect(match('x:///a{?q}', 'x:///a?constructor=b')).toBeUndefined()
    expect(() => of('x:///:constructor').expand({})).toThrow('needs a value for "constructor"')
    expect(of('x:///a{?toString}').expand({})).toBe('x:///a')
  })

  const long = 100_000
  test.each([
    ['a://{x}-{y}-{z}!', `a://${'-'.repeat(long)}`],
    ['a://{x}a{y}a{z}ab', `a://${'a'.repeat(long)}`],
    ['a://{x}aaaaaaaa{y}aaaaaaaab', `a://${'a'.repeat(long)}`],
    ['a://{+x}/{+y}/{+z}/end', `a://${'/'.repeat(long)}`],
    ['a://h{/x*}{/y*}{/z*}{.e*}!', `a://h${'/a'.repeat(long / 2)}`],
    ['a://h{.x,y,z}{.e,f,g}!', `a://h${'.a'.repeat(long / 2)}`],
    ['a://h{?q,r}', `a://h?${'&'.repeat(long)}x`],
    ['a://h{?q,r}', `a://h?q=${'%25'.repeat(long / 3)}%`],
    ['a://h{;q*}{;r*}!', `a://h${';q=1'.repeat(long / 4)}`],
    ['a:///:x/:y/*z', `a:///${'é'.repeat(long)}`],
  ])('%s against 100 kB takes no time', (pattern, uri) => {
    const template = of(pattern)
    const start = performance.now()
    expect(template.match(uri)).toBeUndefined()
    expect(performance.now() - start).toBeLessThan(500)
  })

  test('a long value that matches takes no time either', () => {
    const start = performance.now()
    expect(match('a://{x}-{y}', `a://${'-'.repeat(long)}`)).toEqual({ x: '-', y: '-'.repeat(long - 2) })
    expect(match('a://h{?q*}', `a://h?${'q=1&'.repeat(long / 4)}`)?.['q']).toHaveLength(25_000)
    expect(performance.now() - start).toBeLessThan(500)
  })

  test('no piece of a URI makes any template throw', () => {
    const pieces = [
      'x',
      ':',
      '/',
      '//',
      '?',
      '#',
      '&',
      ';',
      '.',
      ',',
      '=',
      '%',
      '%2F',
      '%C3',
      '%A4',
      '%2',
      '-',
      'a',
      'é',
      '{',
      '\uD800',
      ' ',
    ]
    const patterns = [
      'x://{a}/{b}.{c}',
      'x://{a}{.b,c}{/d*}{;e}{?f,g*}{#h}',
      'x:{+a}-{b}',
      'x:///:a/*b',
      'x:///{a,b}2F{c}',
    ]
    const templates = patterns.map(of)
    let seed = 7
    const next = (limit: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % limit
    }
    for (let round = 0; round < 5_000; round++) {
      const uri = `x:${Array.from({ length: next(12) }, () => pieces[next(pieces.length)]).join('')}`
      expect(() => templates.map((template) => template.match(uri))).not.toThrow()
    }
  })
})

describe('bad patterns', () => {
  test.each([
    ['', 'has no scheme; begin it with one, as in "notes://all"'],
    ['/studies/:id', 'has no scheme; begin it with one, as in "notes://all"'],
    ['{scheme}://x', 'has no scheme; begin it with one, as in "notes://all"'],
    ['1x://y', 'has no scheme; begin it with one, as in "notes://all"'],
    ['x:', 'has nothing after its scheme; name a resource, as in "notes://all"'],
    ['x://', 'has nothing after its scheme; name a resource, as in "notes://all"'],
    ['x:///{id', 'has an unclosed "{" before "id"; close it with "}"'],
    ['x:///{a{b}', 'has an unclosed "{" before "a"; close it with "}"'],
    ['x:///a}', 'has a "}" without its "{"; remove it or write %7D'],
    ['x:///{}', 'has an empty name in {}; write a name'],
    ['x:///{?}', 'has an empty name in {?}; write a name'],
    ['x:///{a,}', 'has an empty name in {a,}; write a name'],
    ['x:///{*}', 'has an empty name in {*}; write a name'],
    ['x:///:/a', 'has an empty name at "/:/a"; write a name behind it'],
    ['x:///a/*', 'has an empty name at "/*"; write a name behind it'],
    ['x:///:id/:id', 'names "id" twice; give each variable a name of its own'],
    ['x:///:id{?id}', 'names "id" twice; give each variable a name of its own'],
    ['x:///{a,a}', 'names "a" twice; give each variable a name of its own'],
    ['x:///*rest/a', 'goes on after "*rest"; a glob is the last segment, {+rest} can stand anywhere'],
    ['x:///*rest/:id', 'goes on after "*rest"; a glob is the last segment, {+rest} can stand anywhere'],
    ['x:///*rest{/id}', 'goes on after "*rest"; a glob is the last segment, {+rest} can stand anywhere'],
    ['x:///*rest.md', 'goes on after "*rest"; a glob is the last segment, {+rest} can stand anywhere'],
    ['x:///{=a}', 'uses the operator "=" in {=a}, which RFC 6570 reserves; remove it'],
    ['x:///{,a}', 'uses the operator "," in {,a}, which RFC 6570 reserves; remove it'],
    ['x:///{!a}', 'uses the operator "!" in {!a}, which RFC 6570 reserves; remove it'],
    ['x:///{@a}', 'uses the operator "@" in {@a}, which RFC 6570 reserves; remove it'],
    ['x:///{|a}', 'uses the operator "|" in {|a}, which RFC 6570 reserves; remove it'],
    ['x:///{a-b}', 'cannot use "a-b" in {a-b}; a name is letters, digits, "_" and ".", then "*" or ":1" to ":9999"'],
    ['x:///{a:0}', 'cannot use "a:0" in {a:0}; a name is letters, digits, "_" and ".", then "*" or ":1" to ":9999"'],
    ['x:///{a:3*}', 'cannot use "a:3*" in {a:3*}; a name is letters, digits, "_" and ".", then "*" or ":1" to ":9999"'],
    ['x:///:study-id', 'has "-id" right after ":study"; write {study}-id, or a name of letters, digits and "_"'],
    ['x:///:id(\\d+)', 'has the character "\\\\"; percent-encode it'],
    ['x:///:id?', 'ends in "?"; an optional segment is {/name}, an optional query is {?name}'],
    ['notes://:id', 'has ":id" before its path, where it is part of the host; write {id} or put it behind a "/"'],
    [
      'files://*path',
      'has "*path" before its path, where it is part of the host; write {+path} or put it behind a "/"',
    ],
    ['a://{x}{y}', 'has {y} right after a variable, so nothing says where that one ends; put a literal between them'],
    ['a:///:x{+y}', 'has {+y} right after a variable, so nothing says where that one ends; put a literal between them'],
    ['x:///a b', 'has the character " "; percent-encode it'],
    ['x:///50%', 'has a malformed "%" in "/50%"; a percent sign is %25'],
    ['x:///a{&b}', 'has {&b} without a query before it; write it with "?"'],
    ['x:///a{?b}{?c}', 'begins a query twice at {?c}; add to the first with {&…} or a comma'],
    ['x:///a?b=1{?c}', 'begins a query twice at {?c}; add to the first with {&…} or a comma'],
    ['x:///a{#b}{#c}', 'begins a fragment twice at {#c}; keep one'],
    ['x:///a{?b}&c=1', 'has "&c=1" behind its query variables; put fixed parameters first, as in "?a=1{&b}"'],
    ['x:///a{?b}{/c}', 'has "{/c}" behind its query variables; put fixed parameters first, as in "?a=1{&b}"'],
  ])('%s', (pattern, problem) => {
    expect(() => of(pattern)).toThrow(new TypeError(`resource "r": the pattern "${pattern}" ${problem}`))
  })
})

describe('compareSpecificity', () => {
  test.each([
    ['x:///studies/new', 'x:///studies/:id'],
    ['x:///studies/:id', 'x:///:kind/:id'],
    ['x:///studies/:id', 'x:///:kind/new'],
    ['x:///:kind/new', 'x:///:kind/:id'],
    ['x:///:id', 'x:///*rest'],
    ['x:///:id', 'x:///{+rest}'],
    ['x:///:a/:b', 'x:///*rest'],
    ['x:///a/b/*rest', 'x:///a/*rest'],
    ['x:///a/*rest', 'x:///*rest'],
    ['x:///{+path}/here', 'x:///{+path}'],
    ['x:///study-{id}', 'x:///s{id}'],
    ['x:///{id}.json', 'x:///:id'],
    ['x:///docs-{+rest}', 'x:///{+rest}'],
    ['x:///a', 'x:///a{/b}'],
    ['x:///a/:b', 'x:///a{/b}'],
    ['x:///a{/b}', 'x:///*rest'],
    ['shop://items', 'shop://items{?q}'],
    ['shop://items?q=tea', 'shop://items{?q}'],
    ['shop://items?q=tea{&page}', 'shop://items{?q,page}'],
    ['x:///readme', 'x:///readme{.ext}'],
    ['x:///{a,b}', 'x:///{a}'],
    ['notes://all', 'notes://{id}'],
  ])('%s comes before %s', (first, second) => {
    expect(Math.sign(compareSpecificity(of(first), of(second)))).toBe(-1)
    expect(Math.sign(compareSpecificity(of(second), of(first)))).toBe(1)
  })

  test('equals keep their order', () => {
    expect(compareSpecificity(of('x:///:id'), of('x:///{name}'))).toBe(0)
    expect(compareSpecificity(of('x:///a'), of('x:///b'))).toBe(0)
    expect(compareSpecificity(of('x:///*a'), of('x:///{+b}'))).toBe(0)
  })

  test('sorts a catalogue', () => {
    const patterns = ['x:///*rest', 'x:///:a/:b', 'x:///s/{+r}', 'x:///s/:id', 'x:///s/new', 'x:///:c/{d}']
    expect(
      patterns
        .map(of)
        .sort(compareSpecificity)
        .map(({ pattern }) => pattern),
    ).toEqual(['x:///s/new', 'x:///s/:id', 'x:///s/{+r}', 'x:///:a/:b', 'x:///:c/{d}', 'x:///*rest'])
  })
})
