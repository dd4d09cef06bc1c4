import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Embedded, startEmbedded } from '@waxwing/embedded-postgres'
import { pino } from 'pino'

// Runs tests of the service through a real PgBouncer in transaction mode, whose other settings are the defaults:
// `npm run test:pgbouncer [-- FILE…]`. The program is `pgbouncer`, or the one in the variable PGBOUNCER.

/** Everything that writes to the database, except the tests that replace the server or its users. */
const defaultTests = [
  'src/platform/queue',
  'src/sending/messages',
  'src/events/recording',
  'src/events/webhooks',
  'src/engagement/tracking',
  'src/audience/contacts',
]
const program = process.env.PGBOUNCER ?? 'pgbouncer'
const startMsMax = 10_000

const folder = mkdtempSync(join(tmpdir(), 'waxwing-pgbouncer-'))
chmodSync(folder, 0o755) // as root the database and PgBouncer run as another user
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }
const postgres = await startEmbedded({ dataDir: folder, log: pino({ level: 'error' }), settings })
let bouncer: ChildProcess | undefined
try {
  const port = await freePort()
  bouncer = await startBouncer(postgres, port)
  const { host, port: directPort, user, database } = postgres.connection
  process.exitCode = await runTests({
    TEST_DATABASE_URL: `postgres://${user}@127.0.0.1:${port}/${database}`,
    TEST_DATABASE_DIRECT_URL: `postgres://${user}@${encodeURIComponent(host)}:${directPort}/${database}`,
  })
} finally {
  bouncer?.kill()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function startBouncer({ connection }: Embedded, port: number): Promise<ChildProcess> {
  const { host, port: serverPort, user } = connection
  const users = join(folder, 'users.txt')
  writeFileSync(users, `"${user}" ""\n`)
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${host} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
`,
  )
  // PgBouncer does not run as root, and only the owner of the socket may connect to it.
  const { uid, gid } = statSync(host)
  const child = spawn(program, [file], { stdio: ['ignore', 'ignore', 'pipe'], uid, gid })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const failed = once(child, 'exit').then(() => {
    throw new Error(`PgBouncer ended:\n${output}`)
  })
  failed.catch(() => {})
  await Promise.race([failed, accepts(port)])
  return child
}

async function accepts(port: number): Promise<void> {
  const giveUpAt = Date.now() + startMsMax
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (connected) return
    if (Date.now() >= giveUpAt) throw new Error('PgBouncer does not accept connections.')
    await sleep(50)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function runTests(environment: Record<string, string>): Promise<number> {
  const files = process.argv.length > 2 ? process.argv.slice(2) : defaultTests
  const child = spawn('npx', ['vitest', 'run', '--project', 'service', '--retry=0', ...files], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
