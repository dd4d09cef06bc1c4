import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newId } from '../src/platform/values/ids.ts'
import { query } from './support/embedded-child.ts'
import { type OwnDatabase, startOwnDatabase, useSite } from './support/own-database.ts'
import { appSecret, clickPath, person, tokens } from './support/readers.ts'
import { announcedSeed, type Seeded } from './support/seeded.ts'
import { freePort } from './support/service.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

/** `KILLS=100 npx vitest run test/tracking-kills.test.ts` for a long run. */
const kills = Number(process.env.KILLS ?? 3)
const readers = 20
const project = fileURLToPath(new URL('..', import.meta.url))

const site = useSite()

async function startService(database: OwnDatabase, port: number): Promise<ChildProcess> {
  const service = spawn(process.execPath, [join(project, 'dist', 'bin', 'cli.js'), 'serve'], {
    cwd: site().directory,
    env: {
      PORT: String(port),
      APP_SECRET: appSecret,
      DATABASE_URL: database.url(),
      DATA_DIR: join(site().directory, 'service'),
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    service.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
    service.stdout!.on('data', (chunk) => String(chunk).includes('is ready') && resolve())
  })
  return service
}

async function killService(service: ChildProcess): Promise<void> {
  service.kill('SIGKILL')
  if (service.exitCode === null && service.signalCode === null) await once(service, 'exit')
}

const agent = new Agent({ keepAlive: true, maxSockets: readers })
/** Returns the status, or undefined if there was no complete response. */
const hit = (port: number, path: string) =>
  new Promise<number | undefined>((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path, agent, headers: { 'user-agent': person } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
      response.once('error', () => resolve(undefined))
    })
    asked.setTimeout(10_000, () => asked.destroy())
    asked.once('error', () => resolve(undefined)).end()
  })

/** Readers who open and click until stopped. Each hit belongs to a different message. */
function startReading(port: number, answered: string[], random: Seeded) {
  let reading = true
  const read = async (organizationId: ReturnType<typeof newId<'org'>>) => {
    while (reading) {
      const ids = { organizationId, messageId: newId('msg'), contactId: newId('con'), flowId: newId('flw') }
      const [path, expected] = random.chance(0.5)
        ? [`/t/o/${tokens.sign('email', ids)}`, 200]
        : [clickPath(ids, 'https://shop.example/'), 302]
      const status = await hit(port, path as string)
      if (status === expected) answered.push(ids.messageId)
      else await sleep(5)
    }
  }
  const all = Array.from({ length: readers }, () => read(newId('org')))
  return async () => {
    reading = false
    await Promise.all(all)
  }
}

test(
  `${kills} kills of the database and the service under load lose no hit that was answered`,
  async () => {
    const port = await freePort()
    const random = announcedSeed('kills while tracking')
    const answered: string[] = []
    const database = await startOwnDatabase(site())
    let service = await startService(database, port)
    const stopReading = startReading(port, answered, random.fork())

    for (let kill = 0; kill < kills; kill++) {
      const seen = answered.length
      await until('hits to be answered', () => answered.length > seen + 50)
      await sleep(random.next() * 200)
      const whom = random.pick(['service', 'database', 'both'])
      if (whom !== 'service') {
        await database.kill()
        const away = answered.length
        if (whom === 'database')
          await until('hits to be answered without the database', () => answered.length > away + 50)
        if (whom === 'both') await sleep(random.next() * 100)
      }
      if (whom !== 'database') await killService(service)
      if (whom !== 'service') await database.start()
      if (whom !== 'database') service = await startService(database, port)
    }

    await stopReading()
    const lost = await until('all answered hits to be recorded', async () => {
      const rows = await query(database.started(), 'select message_id from events')
      const recorded = new Set(rows.map((row) => row.message_id))
      return answered.every((id) => recorded.has(id)) && 'none'
    }).catch(async () => {
      const rows = await query(database.started(), 'select message_id from events')
      const recorded = new Set(rows.map((row) => row.message_id))
      return answered.filter((id) => !recorded.has(id))
    })
    await killService(service)
    await database.stop()
    agent.destroy()
    console.log(`${kills} kills, ${answered.length} hits answered`)
    expect(lost).toBe('none')
  },
  longTestMsMax.kills(kills),
)
