import { describe, expect, test } from 'vitest'
import { uriTemplate } from './uri-template.js'

const of = (pattern: string) => uriTemplate('resource "r"', pattern)
const expand = (pattern: string, params: Record<string, unknown>) => of(pattern).expand(params)

// RFC 6570 section 3.2, with its values; a scheme before each. Left out: undefined and empty values in the path, doubled
// names, associative arrays and `{+path}{var}`, which are refused here (tested below and in uri-template.test.ts).
const RFC_VALUES: Record<string, unknown> = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  undef: null,
}

describe('expand', () => {
  test.each([
    ['{count}', 'one,two,three'],
    ['{count*}', 'one,two,three'],
    ['{/count}', '/one,two,three'],
    ['{/count*}', '/one/two/three'],
    ['{;count}', ';count=one,two,three'],
    ['{;count*}', ';count=one;count=two;count=three'],
    ['{?count}', '?count=one,two,three'],
    ['{?count*}', '?count=one&count=two&count=three'],
    ['?a{&count*}', '?a&count=one&count=two&count=three'],
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{half}', '50%25'],
    ['{x,y}', '1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['?{x,empty}', '?1024,'],
    ['{var:3}', 'val'],
    ['{var:30}', 'value'],
    ['{list}', 'red,green,blue'],
    ['{list*}', 'red,green,blue'],
    ['{+var}', 'value'],
    ['{+hello}', 'Hello%20World!'],
    ['{+half}', '50%25'],
    ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
    ['{+base}index', 'http://example.com/home/index'],
    ['{+path}/here', '/foo/bar/here'],
    ['here?ref={+path}', 'here?ref=/foo/bar'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'],
    ['{+path,x}/here', '/foo/bar,1024/here'],
    ['{+path:6}/here', '/foo/b/here'],
    ['{+list}', 'red,green,blue'],
    ['{+list*}', 'red,green,blue'],
    ['{#var}', '#value'],
    ['{#hello}', '#Hello%20World!'],
    ['{#half}', '#50%25'],
    ['foo{#empty}', 'foo#'],
    ['foo{#undef}', 'foo'],
    ['{#x,hello,y}', '#1024,Hello%20World!,768'],
    ['{#path,x}/here', '#/foo/bar,1024/here'],
    ['{#path:6}here', '#/foo/bhere'],
    ['{#list}', '#red,green,blue'],
    ['{#list*}', '#red,green,blue'],
    ['{.who}', '.fred'],
    ['X{.var}', 'X.value'],
    ['{.half,who}', '.50%25.fred'],
    ['www{.dom*}', 'www.example.com'],
    ['X{.undef}', 'X'],
    ['X{.var:3}', 'X.val'],
    ['X{.list}', 'X.red,green,blue'],
    ['X{.list*}', 'X.red.green.blue'],
    ['{/who}', '/fred'],
    ['{/half,who}', '/50%25/fred'],
    ['{/who,dub}', '/fred/me%2Ftoo'],
    ['{/var,undef}', '/value'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{/list}', '/red,green,blue'],
    ['{/list*}', '/red/green/blue'],
    ['{/list*,path:4}', '/red/green/blue/%2Ffoo'],
    ['{;who}', ';who=fred'],
    ['{;half}', ';half=50%25'],
    ['{;empty}', ';empty'],
    ['{;v,empty,who}', ';v=6;empty;who=fred'],
    ['{;v,undef,who}', ';v=6;who=fred'],
    ['{;x,y}', ';x=1024;y=768'],
    ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{;hello:5}', ';hello=Hello'],
    ['{;list}', ';list=red,green,blue'],
    ['{?who}', '?who=fred'],
    ['{?half}', '?half=50%25'],
    ['{?x,y}', '?x=1024&y=768'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['{?x,y,undef}', '?x=1024&y=768'],
    ['{?var:3}', '?var=val'],
    ['{?list}', '?list=red,green,blue'],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['?fixed=yes{&x,y,empty}', '?fixed=yes&x=1024&y=768&empty='],
    ['?fixed=yes{&x,y,undef}', '?fixed=yes&x=1024&y=768'],
    ['?fixed=yes{&var:3}', '?fixed=yes&var=val'],
    ['?fixed=yes{&list*}', '?fixed=yes&list=red&list=green&list=blue'],
  ])('RFC 6570: %s', (pattern, expected) => {
    const template = of(`x:${pattern}`)
    const params = Object.fromEntries(template.names.map((name) => [name, RFC_VALUES[name]]))
    expect(template.expand(params)).toBe(`x:${expected}`)
    expect(template.match(`x:${expected}`)).toBeDefined()
  })

  test.each([
    [
      'https://example.com/studies/:id/md',
      { id: 'a/b c?#%ä' },
      'https://example.com/studies/a%2Fb%20c%3F%23%25%C3%A4/md',
    ],
    ['files:///*rest', { rest: 'a b/c?d#e%41[f]' }, 'files:///a%20b/c%3Fd%23e%2541%5Bf%5D'],
    ['note://ärger/:id', { id: '日' }, 'note://%C3%A4rger/%E6%97%A5'],
    ['shop://items{?q,page}', { page: '2', q: 'green tea' }, 'shop://items?q=green%20tea&page=2'],
    ['x://h{?a}{&b}', { b: '+' }, 'x://h?b=%2B'],
    ['x://h{?list*,q}', { list: ['a&b', ''], q: '' }, 'x://h?list=a%26b&list=&q='],
    ['x://h{/list*}', { list: ['a/b', '..'] }, 'x://h/a%2Fb/..'],
    ["x:///it's/:id", { id: "(!*')" }, "x:///it's/%28%21%2A%27%29"],
    ['x:///:__proto__', JSON.parse('{"__proto__":"a"}'), 'x:///a'],
  ])('%s gives back what it was given', (pattern, params, uri) => {
    expect(expand(pattern, params)).toBe(uri)
    expect(Object.entries(of(pattern).match(uri) ?? {}).sort()).toEqual(Object.entries(params).sort())
  })

  test('numbers and booleans are written, null, undefined and an empty list are left out', () => {
    expect(expand('x:///:id{?a,b,c,d*}', { id: 7, a: true, b: null, c: undefined, d: [] })).toBe('x:///7?a=true')
    expect(expand('x:///:id{?a*}', { id: 0n, a: [1, 'b'] })).toBe('x:///0?a=1&a=b')
    expect(expand('x:///a{?list*}', { list: 'one' })).toBe('x:///a?list=one')
  })

  test('reserved expansion keeps triplets and encodes the rest', () => {
    expect(expand('x:///{+a}', { a: 'a%2Fb% %zz"é🧭' })).toBe('x:///a%2Fb%25%20%25zz%22%C3%A9%F0%9F%A7%AD')
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['x:///:id', {}, 'resource "r": the URI template "x:///:id" needs a value for "id"'],
    ['x:///:id', { id: undefined }, 'resource "r": the URI template "x:///:id" needs a value for "id"'],
    ['x:///{list*}', { list: [] }, 'resource "r": the URI template "x:///{list*}" needs a value for "list"'],
    [
      'x:///:id{?q}',
      { id: '1', page: 2 },
      'resource "r": the URI template "x:///:id{?q}" has no variable "page"; it has id, q',
    ],
    ['x:///a', { id: '1' }, 'resource "r": the URI template "x:///a" has no variable "id"; it has no variables'],
    [
      'x:///a{?q}',
      { toString: '1' },
      'resource "r": the URI template "x:///a{?q}" has no variable "toString"; it has q',
    ],
    [
      'x:///:id',
      { id: '' },
      'resource "r": the URI template "x:///:id" got an empty "id", and the URI would not be read back',
    ],
    [
      'x:///*rest',
      { rest: '' },
      'resource "r": the URI template "x:///*rest" got an empty "rest", and the URI would not be read back',
    ],
    [
      'x://h{/a,b}',
      { b: '2' },
      'resource "r": the URI template "x://h{/a,b}" needs "a" when "b" is given, or it would be read as "a"',
    ],
    ['x:///:id', { id: { a: 1 } }, 'resource "r": the URI template "x:///:id" wants a string or a number for "id"'],
    [
      'x://h{?l*}',
      { l: [[]] },
      'resource "r": the URI template "x://h{?l*}" wants a list of strings or numbers for "l"',
    ],
    [
      'x:///{id:3}',
      { id: ['a'] },
      'resource "r": the URI template "x:///{id:3}" cannot take a prefix of the list "id"; give a string',
    ],
    [
      'x:///:id',
      { id: '\uD800' },
      'resource "r": the URI template "x:///:id" got half a character (a lone surrogate) in "id"',
    ],
  ])('%s with %j', (pattern, params, message) => {
    expect(() => expand(pattern, params)).toThrow(new TypeError(message))
  })
})
