import { createRouter } from 'phantom-mcp'
import { type Frontmatter, Skill, skills } from 'phantom-mcp/skills'
import { describe, expect, test } from 'vitest'
import { routerOf, simple } from './_skills.js'

const frontmatter: Frontmatter = { name: 'guide', description: 'Guides' }

describe('a path is refused', () => {
  test.each([
    ['', "a path begins with lower-case letters, digits, '-' and '.'"],
    [':id/guide', 'and not with a variable'],
    ['Upper/guide', 'a path begins with lower-case'],
    ['a/../guide', "'..' is no segment of a path"],
    ['a//guide', "'' is no segment of a path"],
    ['a/b\\c/guide', 'is no segment of a path'],
    ['a/:1/guide', "':1' is no segment of a path"],
    ['a/:id/:id', 'a variable is there twice'],
    ['guide/SKILL.md', 'leave SKILL.md out'],
    ['a/Guide', "the last segment is the skill's name"],
    ['a/my--guide', "the last segment is the skill's name"],
  ])('%j', (path, message) => {
    expect(() => skills().route(path, () => simple('guide'))).toThrow(TypeError)
    expect(() => skills().route(path, () => simple('guide'))).toThrow(message)
  })

  test('when it is taken, or when it is inside of another one and adds a variable', () => {
    const guides = skills().route('a/:id/guide', () => null)
    expect(() => guides.route('a/:other/guide', () => null)).toThrow(
      "skill 'a/:other/guide': the path is that of skill 'a/:id/guide'",
    )
    expect(() => guides.route('a/:id/guide/:part', () => null)).toThrow('cannot add a variable')
    expect(() => guides.route('a', () => null)).toThrow("skill 'a/:id/guide': it is inside of skill 'a'")
    expect(() => guides.route('b', undefined as never)).toThrow("skill 'b': the last argument must be its handler")
  })
})

describe('Skill.build refuses', () => {
  test.each([
    ['a name with capitals', { frontmatter: { ...frontmatter, name: 'Guide' }, body: '' }, 'the name "Guide"'],
    ['a name of 65', { frontmatter: { ...frontmatter, name: 'a'.repeat(65) }, body: '' }, '1 to 64 lower-case'],
    ['no description', { frontmatter: { name: 'guide' }, body: '' }, 'the description must be a string'],
    [
      'metadata that is no text',
      { frontmatter: { ...frontmatter, metadata: { author: 'a', since: 2020 } }, body: '' },
      "metadata must have a string for each name: quote the value of 'since'",
    ],
    [
      'a compatibility of 501 characters',
      { frontmatter: { ...frontmatter, compatibility: '\u{1f600}'.repeat(501) }, body: '' },
      'compatibility must be a string of 1 to 500 characters',
    ],
    ['no front matter', { body: '' }, 'the front matter must be an object'],
    ['a path that climbs', { frontmatter, body: '', files: { 'a/../b': '' } }, 'the path "a/../b" must be names'],
    ['an absolute path', { frontmatter, body: '', files: { '/etc/passwd': '' } }, 'the path "/etc/passwd"'],
    ['a backslash', { frontmatter, body: '', files: { 'a\\b': '' } }, 'without'],
    ['half a character', { frontmatter, body: '', files: { 'a\ud800': '' } }, 'the path'],
    [
      'SKILL.md twice',
      { frontmatter, body: '', files: { 'SKILL.md': '' } },
      'SKILL.md is made of frontmatter and body',
    ],
    ['a file in a file', { frontmatter, body: '', files: { a: '', 'a/b': '' } }, "'a' is a file and a directory"],
    ['a number as contents', { frontmatter, body: '', files: { a: 1 } }, "file 'a': contents must be a string"],
    ['another word', { frontmatter, body: '', resources: 'static' }, "resources must be 'dynamic'"],
    ['a misspelt option', { frontmatter, body: '', file: {} }, "unknown option 'file'"],
    [
      '513 files',
      { frontmatter, body: '', files: Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`f${n}`, ''])) },
      'more than 512 files',
    ],
    ['17 MiB', { frontmatter, body: '', files: { a: new Uint8Array(17_825_792) } }, 'more than 16777216 bytes'],
  ])('%s', (_what, options, message) => {
    expect(() => Skill.build(options as never)).toThrow(TypeError)
    expect(() => Skill.build(options as never)).toThrow(message)
  })
})

test('skills and Skill.list refuse what they are not made for', () => {
  expect(() => skills({ lists: () => Skill.list([]) } as never)).toThrow("skills: unknown option 'lists'")
  expect(() => skills({ list: [] as never })).toThrow('skills: list must be a function')
  expect(() => Skill.list('skill://a' as never)).toThrow('Skill.list: the first argument must be a list of URIs')
})

test('a router with skills has no resources of their scheme, its own or mounted ones', () => {
  const router = routerOf(skills())
  const message = "skill: is for the extension 'io.modelcontextprotocol/skills', so choose another scheme"
  for (const pattern of ['skill://guide/SKILL.md', 'SKILL://guide/:file'])
    expect(() => router.resource(pattern, { name: 'guide' }, () => 'x')).toThrow(`resource 'guide': ${message}`)
  const other = createRouter({ name: 'other', version: '1.0.0' })
  other.resource('skills://guide', { name: 'near' }, () => 'x')
  router.mount('a', other)
  const taken = createRouter({ name: 'taken', version: '1.0.0' })
  taken.resource('skill://guide', { name: 'guide' }, () => 'x')
  expect(() => router.mount('b', taken)).toThrow(`resource 'guide': ${message}`)
})

test('what is measured of front matter are characters', () => {
  const long = { name: 'guide', description: '\u{1f600}'.repeat(1024), compatibility: '\u{1f600}'.repeat(500) }
  expect(Skill.build({ frontmatter: long, body: '' }).frontmatter).toEqual(long)
})
