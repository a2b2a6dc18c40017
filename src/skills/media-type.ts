const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/** The type of a file by the ending of its name; undefined where it says nothing. */
export function mediaTypeOf(path: string): string | undefined {
  const ending = /\.([a-z\d]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(TYPES, ending) ? TYPES[ending] : undefined
}
