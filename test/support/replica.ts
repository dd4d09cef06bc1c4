import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Embedded, startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'

const log = pino({ level: 'silent' })
const settings = { fsync: 'off', max_connections: '50' }

export type ReplicaPair = AsyncDisposable & { primary: Embedded; replica: Embedded }

/** Starts a PostgreSQL and a streaming replica of it, both empty. */
export async function startReplicaPair(): Promise<ReplicaPair> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-replica-'))
  chmodSync(folder, 0o711)
  const primaryDir = join(folder, 'primary')
  const replicaDir = join(folder, 'replica')
  const created = await startEmbedded({ dataDir: primaryDir, log, settings })
  await created.stop()
  // Without the directory of the sockets.
  cpSync(primaryDir, replicaDir, { recursive: true, filter: (path) => path !== join(primaryDir, 'postgres', 'run') })
  writeFileSync(join(replicaDir, 'postgres', 'cluster', 'standby.signal'), '')
  const primary = await startEmbedded({ dataDir: primaryDir, log, settings })
  const { host, port, user } = primary.connection
  const replica = await startEmbedded({
    dataDir: replicaDir,
    log,
    settings: { ...settings, primary_conninfo: `host=${host} port=${port} user=${user}` },
  })
  return {
    primary,
    replica,
    [Symbol.asyncDispose]: async () => {
      await replica.stop()
      await primary.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
