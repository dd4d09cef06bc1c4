import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Child,
  isDatabase,
  makeSite,
  processesIn,
  query,
  type Site,
  type Started,
  startChild,
} from '../../../test/support/embedded-child.ts'
import { announcedSeed } from '../../../test/support/seeded.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'

/** `KILLS=200 npx vitest run packages/embedded-postgres/test/kills.test.ts` for a long run. */
const kills = Number(process.env.KILLS ?? 6)

let site: Site
beforeAll(() => {
  site = makeSite()
})
afterAll(() => site.remove())

const random = announcedSeed('kills of the database')
const moment = (ms: number) => sleep(random.next() * ms)

test(
  `${kills} kills at random moments of making, start, run and stop lose no acknowledged row`,
  async () => {
    const acknowledged: number[] = []
    const history: string[] = []
    const dataDir = site.newDataDir()
    await firstStart(dataDir)

    for (let kill = 0; kill < kills; kill++) {
      const when = random.pick(['making', 'start', 'run', 'stop'] as const)
      const whom = random.pick(['service', 'database', 'both', 'everything'] as const)
      history.push(`${when}: ${whom}`)
      const place = when === 'making' ? site.newDataDir() : dataDir
      const child = startChild(site.installation, place)
      const writing = when === 'run' || when === 'stop' ? startWriting(await child.ready, acknowledged) : null
      if (when === 'stop') child.process.stdin!.write('stop\n')
      await moment({ making: 1500, start: 300, run: 300, stop: 60 }[when])
      await killPart(child, whom, place)
      await writing

      const next = startChild(site.installation, place)
      const started = await next.ready.catch((error) =>
        Promise.reject(new Error(`${history.at(-1)}: ${error.message}`)),
      )
      const rows = when === 'making' ? [] : await query(started, 'select id from kept order by id')
      await next.stop()
      const stored = new Set(rows.map((row) => row.id))
      const lost = when === 'making' ? [] : acknowledged.filter((id) => !stored.has(id))
      expect(lost, history.at(-1)).toEqual([])
    }
    console.log(`${kills} kills, ${acknowledged.length} acknowledged rows, none lost`)
  },
  longTestMsMax.kills(kills),
)

async function firstStart(dataDir: string): Promise<void> {
  const child = startChild(site.installation, dataDir)
  await query(await child.ready, 'create table kept (id int primary key, filler text)')
  await child.stop()
}

/** Writes rows on four connections until the database is gone. */
async function startWriting(started: Started, acknowledged: number[]): Promise<void> {
  let next = (acknowledged.at(-1) ?? 0) + 1000
  const write = async () => {
    const client = new pg.Client(started.connection)
    client.on('error', () => {})
    try {
      await client.connect()
      for (;;) {
        const id = next++
        await client.query({ name: 'write', text: `insert into kept values ($1, repeat('x', 500))`, values: [id] })
        acknowledged.push(id)
      }
    } catch {
      await client.end().catch(() => {})
    }
  }
  await Promise.all([write(), write(), write(), write()])
}

/** Ends the service in any case: it is killed, or stopped after its database was killed. */
async function killPart(child: Child, whom: 'service' | 'database' | 'both' | 'everything', place: string) {
  const home = join(place, 'postgres')
  const below = processesIn(home)
  const victims = { service: [], database: below.filter(isDatabase), both: below.filter(isDatabase), everything: below }
  if (whom === 'service' || whom === 'both' || whom === 'everything') child.process.kill('SIGKILL')
  for (const pid of victims[whom]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has already exited.
    }
  }
  if (whom === 'database') await child.ready.then(child.stop, () => {})
  await child.exited
}
