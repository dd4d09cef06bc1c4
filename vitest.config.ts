import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: {
      ...Object.fromEntries(
        ['bounce-classifier', 'embedded-postgres', 'smtp-client'].map((name) => [
          `@waxwing/${name}`,
          fileURLToPath(new URL(`packages/${name}/src/index.ts`, import.meta.url)),
        ]),
      ),
      '@waxwing/sdk': fileURLToPath(new URL('sdk/src/index.ts', import.meta.url)),
    },
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          // Tests wait for servers and timers more than they compute: one more than the cores of a small machine.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
          // Files share the modules of their worker: importing them for each file took a third of the time.
          isolate: false,
          globalSetup: ['test/support/global-setup.ts'],
          setupFiles: ['test/support/setup-seed.ts', 'test/support/setup-statements.ts'],
          include: ['src/**/*.test.ts', 'sdk/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/browser/**'],
        },
      },
      {
        extends: true,
        // Apart, so that the other tests need neither a built web app nor a browser.
        test: {
          name: 'browser',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          globalSetup: ['test/support/global-setup.ts', 'test/browser/support/global-setup.ts'],
          include: ['test/browser/**/*.test.ts'],
        },
      },
    ],
    // The default of one second is not enough for a browser on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
