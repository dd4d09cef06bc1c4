import { join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import project from '../../vitest.config.ts'

/** Runs programs that nobody here wrote, which have to be installed: `npm run test:clients`. */
export default mergeConfig(
  { resolve: project.resolve ?? {} },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: {
      include: ['test/clients/*.ts'],
      exclude: ['test/clients/vitest.config.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      testTimeout: 120_000,
    },
  }),
)
