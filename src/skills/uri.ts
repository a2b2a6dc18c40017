const SCHEME = 'skill://'
/** What a segment must not have once it is decoded: separators of any system, control characters, half characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSAFE = /[/\\\u0000-\u001f\u007f\p{Surrogate}]/u

/** Whether text can stand between two slashes without meaning anything but itself. */
export function isSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..' && !UNSAFE.test(text)
}

/** The URI of what is at these segments. */
export function skillUri(segments: readonly string[]): string {
  return SCHEME + segments.map(encodeURIComponent).join('/')
}

/**
 * The decoded segments of a `skill:` URI; undefined for any other, and for one that is not spelt as {@link skillUri} spells it:
 * one file has one URI, so that nothing depends on how somebody else would read another spelling.
 */
export function parseSkillUri(uri: string): readonly string[] | undefined {
  if (!uri.startsWith(SCHEME)) return undefined
  const segments: string[] = []
  for (const raw of uri.slice(SCHEME.length).split('/')) {
    const text = decoded(raw)
    if (text === undefined || !isSegment(text) || encodeURIComponent(text) !== raw) return undefined
    segments.push(text)
  }
  return segments
}

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}
