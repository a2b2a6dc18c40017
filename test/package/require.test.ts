import { describe, expect, it } from 'vitest'
import { entries, runNode } from './_package.js'

// The package is ESM only; every supported Node loads it from CommonJS too.

describe('require()', () => {
  it.each([...entries.keys()])('%s gives what import gives', (entry) => {
    const code = `const required = require('${entry}')
      import('${entry}').then((imported) => {
        const keys = Object.keys(imported)
        console.log(keys.length > 0 && keys.every((key) => required[key] === imported[key]))
      })`
    expect(runNode(code, { kind: 'commonjs' }).trim()).toBe('true')
  })
})
