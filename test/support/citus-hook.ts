import { distribute } from '../../src/platform/db/cluster/distribute.ts'
import { type Db, openDb } from '../../src/platform/db/db.ts'
import { inServer, type TestServer } from './databases.ts'

// A TEST_DATABASE_HOOK for Citus. TEST_DATABASE_URL is the address of the coordinator, and TEST_CITUS_NODES has those of
// the other nodes: `127.0.0.1:5433,127.0.0.1:5434`, for the same user and database. Tables, shards and their metadata
// are part of a database, so copying it on each node copies a distributed database.

/** Templates that have no sessions any more. */
const sealed = new Set<string>()

export async function createDatabase(server: TestServer, name: string, template?: string): Promise<void> {
  const servers = serversOf(server)
  if (template) {
    if (!sealed.has(template)) await Promise.all(servers.map((each) => seal(each, template)))
    sealed.add(template)
    const copy = `create database ${name} template ${template} strategy file_copy`
    await Promise.all(servers.map((each) => inServer(each, copy)))
    return
  }
  for (const each of servers) {
    await inServer(each, `create database ${name} template template0`)
    const db = openDb({ connection: { ...each, database: name }, connectionsMax: 1 })
    await db.statement.script('create extension citus')
    await db.close()
  }
}

export async function dropDatabase(server: TestServer, name: string): Promise<void> {
  // The coordinator first, so that its maintenance process does not connect to databases of nodes that are gone.
  for (const each of serversOf(server)) await inServer(each, `drop database if exists ${name} with (force)`)
}

export async function afterMigration(db: Db, server: TestServer): Promise<void> {
  const [coordinator, ...nodes] = serversOf(server)
  await db.statement.script(`select citus_set_coordinator_host('${coordinator!.host}', ${coordinator!.port})`)
  for (const { host, port } of nodes) await db.statement.script(`select citus_add_node('${host}', ${port})`)
  await distribute(db)
}

function serversOf(coordinator: TestServer): TestServer[] {
  const nodes = (process.env.TEST_CITUS_NODES ?? '').split(',').filter(Boolean)
  if (nodes.length === 0) throw new Error('TEST_CITUS_NODES must name the nodes, for example 127.0.0.1:5433.')
  return [
    coordinator,
    ...nodes.map((address) => {
      const { hostname, port } = new URL(`postgres://${address}`)
      return { ...coordinator, host: hostname, port: Number(port || 5432) }
    }),
  ]
}

/** Citus keeps a session in each database, which would prevent copying. */
async function seal(server: TestServer, template: string): Promise<void> {
  await inServer(server, `alter database ${template} allow_connections false`)
  await inServer(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`)
}
