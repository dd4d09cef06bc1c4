import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { testMsMax, waitMsMax } from './test/support/time-limits.ts'

/**
 * Files that take half a minute or more on two cores, the longest first. They start before the others of their project:
 * without the cache of an earlier run, Vitest starts large files first, and the run would end with one of these alone.
 */
const slowFiles = [
  'test/browser/screens.test.ts',
  'test/browser/newsletter.test.ts',
  'test/browser/lists.test.ts',
  'test/browser/broadcasts.test.ts',
  'test/browser/flows.test.ts',
  'test/browser/contacts.test.ts',
  'test/browser/session.test.ts',
  'test/browser/flow-saving.test.ts',
  'test/browser/first-steps.test.ts',
  'test/installed-package.test.ts',
  'test/hostile-inputs.test.ts',
  'test/faults.test.ts',
  'src/events/webhooks/deliver.test.ts',
  'src/platform/processes/sending-processes.test.ts',
  'test/bounded-lists.test.ts',
  'test/kill-while-broadcasting.test.ts',
  'src/audience/imports/imports.test.ts',
  'src/accounts/people/password-resets.test.ts',
  'src/operations/commands/stopping.test.ts',
  'src/broadcasts/variants.test.ts',
  'src/sending/attempts/send.test.ts',
  'test/kill-while-sending.test.ts',
  'src/broadcasts/sending/sending.test.ts',
  'src/operations/commands/backup.test.ts',
  'test/guides.test.ts',
  'test/event-feed-kills.test.ts',
  'test/kill-while-delivering.test.ts',
].map((file) => fileURLToPath(new URL(file, import.meta.url)))

class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const position = ({ moduleId }: TestSpecification) => {
      const index = slowFiles.indexOf(moduleId)
      return index === -1 ? slowFiles.length : index
    }
    // One project after the other, because a worker serves only one.
    return ['browser', 'service'].flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).sort((a, b) => position(a) - position(b)),
    )
  }
}

// Before anything imports the SDK.
execFileSync(process.execPath, ['sdk/generate.mjs'], { stdio: 'inherit' })

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
    // Tests also wait for servers and timers. Each worker imports the modules again, so with more of them the run takes longer.
    maxWorkers: 4,
    // Files share the modules of their worker, and its browser: importing them for each file took a third of the time.
    isolate: false,
    sequence: { sequencer: SlowFilesFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
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
          globalSetup: ['test/support/global-setup.ts', 'test/browser/support/global-setup.ts'],
          include: ['test/browser/**/*.test.ts'],
        },
      },
    ],
    expect: { poll: { timeout: waitMsMax } },
    testTimeout: testMsMax,
    hookTimeout: testMsMax,
  },
})
