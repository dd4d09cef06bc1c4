import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { recordEvents } from '../src/events/recording/record.ts'
import type { Db } from '../src/platform/db/db.ts'
import { allValues } from '../src/platform/db/rows.ts'
import { createTokens } from '../src/platform/secrets/tokens.ts'
import { newId, type OrganizationId, parseId, toText } from '../src/platform/values/ids.ts'
import { announcedSeed, type Seeded } from './support/seeded.ts'
import { newCustomer, type Service, startService } from './support/service.ts'
import { createTestDb } from './support/test-db.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'

/** `KILLS=100 npx vitest run --project service test/event-feed-kills.test.ts` for a long run. */
const kills = Number(process.env.KILLS ?? 2)
const requestsPerWriter = 4
const eventsBeforeKill = 100
const appSecret = 'a secret that the writers and the test share'
const tokens = createTokens({ current: appSecret })

/** Opens emails at one service until it is stopped. A service that was killed does not respond. */
async function write(service: Service, organizationId: OrganizationId, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const ids = { organizationId, messageId: newId('msg'), contactId: newId('con'), flowId: newId('flw') }
    const response = await fetch(`${service.url}/t/o/${tokens.sign('email', ids)}`).catch(() => undefined)
    await response?.arrayBuffer().catch(() => undefined)
    if (response?.status !== 200) await sleep(20)
  }
}

/** Records events in transactions that take a while, so that they are not committed in the order of their ids. */
async function writeSlowly(db: Db, organizationId: OrganizationId, random: Seeded, isStopped: () => boolean) {
  const event = { organizationId, eventName: 'emailClick', occurredAt: new Date(), messageId: newId('msg') } as const
  const rest = { flowId: newId('flw'), contactId: newId('con'), machine: true, machineReason: 'test', data: {} }
  while (!isStopped()) {
    await db
      .begin(async (tx) => {
        await recordEvents(tx, [{ ...event, ...rest, id: newId('evt') }])
        await sleep(random.next() * 30)
        if (random.chance(0.2)) throw new Error('rolled back')
      })
      .catch(() => {})
  }
}

type Page = { events: { id: string }[]; cursor: string }

test(`a reader beside four writers, with ${kills} kills, sees each event exactly once`, {
  timeout: longTestMsMax.kills(kills),
}, async () => {
  await using database = await createTestDb()
  const environment = { DATABASE_URL: database.url, APP_SECRET: appSecret }
  await using first = await startService('serve', environment)
  await using second = await startService('serve', environment)
  await using third = await startService('serve', environment)
  await using fourth = await startService('serve', environment)
  const services = [first, second, third, fourth]
  const { apiKey, manage } = await newCustomer(first.url)
  const organizationId = parseId('org', (await manage('GET', '/me')).body.data.organization.id)!

  const random = announcedSeed('kills while reading the feed')
  let isStopped = false
  const writing = [
    ...services.flatMap((service) =>
      Array.from({ length: requestsPerWriter }, () => write(service, organizationId, () => isStopped)),
    ),
    ...[1, 2].map(() => writeSlowly(database.db, organizationId, random.fork(), () => isStopped)),
  ]

  const seen: string[] = []
  let cursor: string | undefined
  const readNext = async (wait: number): Promise<number> => {
    const query = new URLSearchParams({ limit: '50', wait: String(wait), ...(cursor && { after: cursor }) })
    const url = `${random.pick(services).url}/public/api/v1/events?${query}`
    const page = await fetch(url, { headers: { 'x-api-token': apiKey } })
      .then(async (response) => ((await response.json()) as { data: Page }).data)
      .catch(() => undefined)
    if (!page) return Number.NaN
    seen.push(...page.events.map(({ id }) => id))
    cursor = page.cursor
    return page.events.length
  }
  const reading = (async () => {
    while (!isStopped) if (Number.isNaN(await readNext(2))) await sleep(20)
  })()

  for (let kill = 0; kill < kills; kill++) {
    const before = seen.length
    await until('events to arrive', () => seen.length > before + eventsBeforeKill)
    const service = random.pick(services)
    await service.kill()
    await sleep(random.next() * 100)
    await service.start()
  }
  isStopped = true
  await Promise.all([...writing, reading])
  // A transaction of a killed process may still commit: what is recorded is read after the end of the feed.
  const expected = await until('the rest of the feed', async () => {
    if ((await readNext(0)) !== 0) return undefined
    const recorded = await allValues(database.db<{ id: string }>`
      select id from events where organization_id = ${organizationId}`)
    return seen.length >= recorded.length ? recorded : undefined
  })
  console.info(`${seen.length} events, ${kills} kills`)
  expect(seen.toSorted()).toEqual(expected.map((id) => toText('evt', id as ReturnType<typeof newId<'evt'>>)).sort())
})
