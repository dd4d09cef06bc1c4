import { type Connection, EmbeddedFailure, upgradeEmbedded } from '@waxwing/embedded-postgres'
import type { Config } from '../../platform/config/config.ts'
import { version } from '../../platform/config/package-root.ts'
import { type Db, openDb } from '../../platform/db/db.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { SetupFault } from '../../platform/values/errors.ts'
import { backUp } from '../backup/backup.ts'
import { noProgress } from '../backup/progress.ts'
import { restore } from '../backup/restore.ts'

/**
 * Moves the embedded database to the major version of PostgreSQL that this version of Waxwing includes. The old one is
 * kept. Throws `SetupFault` if that is not possible; nothing has changed then.
 */
export async function upgradeCluster({ DATA_DIR: dataDir }: Config, log: Log): Promise<void> {
  // The file is only read by us, a moment later: the secret and the spool stay where they are.
  const dump = (connection: Connection, file: string) =>
    withDb(connection, async (db) => {
      const secrets = { current: '', previous: undefined }
      await backUp(file, { db, secrets, dataDir: undefined, waxwing: version, progress: noProgress })
    })
  const load = (connection: Connection, file: string) =>
    withDb(connection, async (db) => {
      const options = { replace: false, pause: false, secretPlace: undefined, dataDir, progress: noProgress }
      await restore(file, { db, ...options })
    })
  await upgradeEmbedded({ dataDir, log, dump, load }).catch((error: unknown) => {
    throw error instanceof EmbeddedFailure ? new SetupFault(error.message) : error
  })
}

async function withDb(connection: Connection, work: (db: Db) => Promise<void>): Promise<void> {
  const db = openDb({ connection, connectionsMax: 1, applicationName: 'waxwing upgrade' })
  try {
    await work(db)
  } finally {
    await db.close()
  }
}
