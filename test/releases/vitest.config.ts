import { join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import project from '../../vitest.config.ts'

/** Runs only the program that writes the fixture of a release. */
export default mergeConfig(
  { resolve: project.resolve ?? {} },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: {
      include: ['test/releases/make-release.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      testTimeout: 120_000,
    },
  }),
)
