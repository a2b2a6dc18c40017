import { expectTypeOf, test } from 'vitest'
import type { UriParams, UriTemplate } from './uri-template.js'

test('segment variables and globs are required strings', () => {
  expectTypeOf<UriParams<'https://example.com/studies/:id/md'>>().toEqualTypeOf<{ id: string }>()
  expectTypeOf<UriParams<'myapp:///:kind/:id'>>().toEqualTypeOf<{ kind: string; id: string }>()
  expectTypeOf<UriParams<'files:///docs/*rest'>>().toEqualTypeOf<{ rest: string }>()
  expectTypeOf<UriParams<'files:///*rest{?rev}'>>().toEqualTypeOf<{ rest: string; rev?: string }>()
  expectTypeOf<UriParams<'x:///:id.json'>>().toEqualTypeOf<{ id: string }>()
  expectTypeOf<UriParams<'x:///:id.json/:rev'>>().toEqualTypeOf<{ id: string; rev: string }>()
  expectTypeOf<UriParams<'x:///:id/a.json'>>().toEqualTypeOf<{ id: string }>()
  expectTypeOf<keyof UriParams<'x:///a#b?c/:d'>>().toBeNever()
  expectTypeOf<UriParams<'x:/:id'>>().toEqualTypeOf<{ id: string }>()
  expectTypeOf<UriParams<'x:///:_a'>>().toEqualTypeOf<{ _a: string }>()
  expectTypeOf<UriParams<'x:///:Id'>>().toEqualTypeOf<{ Id: string }>()
  expectTypeOf<UriParams<'x:///:id?full=1'>>().toEqualTypeOf<{ id: string }>()
})

test('what is no variable gives no key', () => {
  expectTypeOf<keyof UriParams<'notes://plain'>>().toBeNever()
  expectTypeOf<keyof UriParams<'urn:isbn:123'>>().toBeNever()
  expectTypeOf<keyof UriParams<'http://host:8080/x'>>().toBeNever()
  expectTypeOf<keyof UriParams<'x:///:8'>>().toBeNever()
  expectTypeOf<keyof UriParams<'x:///a?path=/:b'>>().toBeNever()
  expectTypeOf<UriParams<'x:///a{?q}#/:b'>>().toEqualTypeOf<{ q?: string }>()
})

test('RFC 6570 expressions', () => {
  expectTypeOf<UriParams<'shop://items{?q,page}'>>().toEqualTypeOf<{ q?: string; page?: string }>()
  expectTypeOf<UriParams<'shop://items?a=1{&x}'>>().toEqualTypeOf<{ x?: string }>()
  expectTypeOf<UriParams<'x://{id}/{+path}'>>().toEqualTypeOf<{ id: string; path: string }>()
  expectTypeOf<UriParams<'x:///{a,b}'>>().toEqualTypeOf<{ a: string; b: string }>()
  expectTypeOf<UriParams<'x://h{/a,b}{.ext}{;v}{#top}'>>().toEqualTypeOf<{
    a?: string
    b?: string
    ext?: string
    v?: string
    top?: string
  }>()
  expectTypeOf<UriParams<'x:///{code:3}'>>().toEqualTypeOf<{ code: string }>()
  expectTypeOf<UriParams<'x:///{list*}'>>().toEqualTypeOf<{ list: string[] }>()
  expectTypeOf<UriParams<'x:///a{?tag*,q}'>>().toEqualTypeOf<{ tag?: string[]; q?: string }>()
  expectTypeOf<UriParams<'x:///{base}/:id'>>().toEqualTypeOf<{ base: string; id: string }>()
})

test('a pattern known only at run time', () => {
  expectTypeOf<UriParams<string>>().toEqualTypeOf<Record<string, string | undefined>>()
})

test('a match may be missing and expand takes any record', () => {
  expectTypeOf<ReturnType<UriTemplate['match']>>().toEqualTypeOf<Record<string, string | string[]> | undefined>()
  expectTypeOf<{ id: string }>().toExtend<Parameters<UriTemplate['expand']>[0]>()
})
