import { test } from 'vitest'

// Every test runs on the server that the tests start. On another server, those that it cannot run are skipped.

/** A test that depends on settings of the server. Skipped with TEST_DATABASE_URL. */
export const ownServerTest = test.skipIf(process.env.TEST_DATABASE_URL !== undefined)

/** A test that needs its data on one server, for example to read its statistics. Skipped with TEST_DATABASE_HOOK. */
export const oneServerTest = test.skipIf(process.env.TEST_DATABASE_HOOK !== undefined)
