import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src: string = fileURLToPath(new URL('./src', import.meta.url))

// Tests import the package by its name and run on the source; the package tests alone read dist.
const alias = [
  { find: /^phantom-mcp$/, replacement: `${src}/index.ts` },
  { find: /^phantom-mcp\/([a-z]+(?:\/[a-z]+)?)$/, replacement: `${src}/$1/index.ts` },
]

export default defineConfig({
  test: {
    update: 'none',
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          typecheck: {
            enabled: true,
            include: ['src/**/*.test-d.ts'],
            tsconfig: './tsconfig.json',
            ignoreSourceErrors: true,
          },
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'behaviour',
          include: ['test/**/*.test.ts'],
          exclude: ['test/package/**'],
        },
      },
      {
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
