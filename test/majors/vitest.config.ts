import { join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import project from '../../vitest.config.ts'

/** Runs the upgrade between major versions of PostgreSQL, which downloads one of them. */
export default mergeConfig(
  { resolve: project.resolve ?? {} },
  defineConfig({
    root: join(import.meta.dirname, '../..'),
    test: {
      include: ['test/majors/upgrade-postgres.ts'],
      globalSetup: ['test/support/global-setup.ts'],
      testTimeout: 120_000,
    },
  }),
)
