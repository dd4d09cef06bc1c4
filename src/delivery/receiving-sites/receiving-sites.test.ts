import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNameServer } from '../../../test/support/name-server.ts'
import { createTestDb, type TestDb } from '../../../test/support/test-db.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId, type OrganizationId } from '../../platform/values/ids.ts'
import { openCachedDns } from '../domains/dns.ts'
import type { Limit } from '../limits/sending-limits.ts'
import { upsertLimits } from './receiving-sites.sql.ts'
import { ReceivingSites } from './receiving-sites.ts'
import { SiteLookup } from './site-lookup.ts'

let testDb: TestDb
let names: Awaited<ReturnType<typeof startNameServer>>
let asked: string[] = []
/** MX records by domain. */
const exchangers = new Map<string, string[]>([
  ['workspace.test', ['20 alt1.aspmx.l.google.com', '10 aspmx.l.google.com']],
  ['office.test', ['0 office-test.mail.protection.outlook.com']],
  ['hosted.test', ['10 mx01.hoster-example.com']],
  ['nullmx.test', ['0 .']],
])

beforeAll(async () => {
  testDb = await createTestDb()
  names = await startNameServer(
    (name) => {
      asked.push(name)
      if (name === 'silent.test') return 'silence'
      return name === 'missing.test' ? 'no such name' : []
    },
    (name) => ({ mx: exchangers.get(name) ?? (/^google-\d+\./.test(name) ? ['1 aspmx.l.google.com'] : []) }),
  )
})
afterAll(async () => {
  await names[Symbol.asyncDispose]()
  await testDb[Symbol.asyncDispose]()
})

const asking = newId('org')
const newLookup = () => new SiteLookup(testDb.db, new StageRegistry(), openCachedDns([names.address]))

async function createOrganization(isOperator = false): Promise<OrganizationId> {
  const id = newId('org')
  await testDb.db.statement`
    insert into organizations (id, name, is_operator) values (${id}, 'Test', ${isOperator})`
  return id
}

test('domains belong to the site of their mail servers, and known ones need no look-up', async () => {
  const lookup = newLookup()
  asked = []
  for (const [domain, site] of [
    ['gmail.com', 'google'],
    ['hotmail.com', 'microsoft'],
    ['icloud.com', 'apple'],
  ])
    expect(lookup.find(asking, domain!)).toBe(site)
  expect(asked).toEqual([])
  for (const [domain, site] of [
    ['workspace.test', 'google'],
    ['office.test', 'microsoft365'],
    ['hosted.test', 'hoster-example.com'],
    ['nullmx.test', 'nullmx.test'],
    ['missing.test', 'missing.test'],
    ['without-mx.test', 'without-mx.test'],
  ])
    expect(await lookup.find(asking, domain!)).toBe(site)
})

test('thousands of domains are asked once, by one process for all, in few statements', async () => {
  const domains = Array.from({ length: 4_000 }, (_, index) =>
    index % 4 === 0 ? `google-${index}.test` : `other-${index}.test`,
  )
  const first = newLookup()
  asked = []
  const sites = await Promise.all(domains.map((domain) => first.find(asking, domain)))
  await first.drained()
  // Answers that took longer than an email waits are known now.
  const known = await Promise.all(domains.map((domain) => first.find(asking, domain)))
  expect(known.filter((site) => site === 'google')).toHaveLength(1_000)
  expect(sites).toHaveLength(domains.length)
  expect(asked).toHaveLength(domains.length)

  const second = newLookup()
  expect(await Promise.all(domains.map((domain) => second.find(asking, domain)))).toEqual(known)
  expect(asked).toHaveLength(domains.length)
})

test('a domain whose name servers do not answer is its own site, and email does not wait for the answer', async () => {
  const lookup = newLookup()
  const site = lookup.find(asking, 'silent.test')
  let isAnswered = false
  void lookup.drained().then(() => {
    isAnswered = true
  })
  expect(await site).toBe('silent.test')
  expect(isAnswered).toBe(false)
})

const limitsOf = async (
  sites: ReceivingSites,
  organizationId: OrganizationId,
  address: string,
  server = organizationId,
) => (await sites.limitsFor({ organizationId, serverOrganizationId: server, address })) as Limit[]

test('an organization replaces shipped limits, the operator sets the defaults, and others have none', async () => {
  const operator = await createOrganization(true)
  const organizationId = await createOrganization()
  await upsertLimits(testDb.db.statement, operator, 'google', { messagesPerSecond: 8, messagesPerDay: 1_000 }, 10)
  await upsertLimits(
    testDb.db.statement,
    organizationId,
    'microsoft',
    { messagesPerSecond: 3, messagesPerDay: null },
    10,
  )
  await upsertLimits(
    testDb.db.statement,
    organizationId,
    'small.test',
    { messagesPerSecond: 1, messagesPerDay: null },
    10,
  )
  const sites = new ReceivingSites(testDb.db, newLookup())
  expect(await limitsOf(sites, organizationId, 'a@gmail.com')).toMatchObject([
    { organizationId, key: 'site/google', name: 'email to Google', perSecond: 8, perDay: 1_000 },
  ])
  expect(await limitsOf(sites, organizationId, 'a@HOTMAIL.com')).toMatchObject([{ perSecond: 3, perDay: null }])
  expect(await limitsOf(sites, organizationId, 'a@yahoo.com')).toMatchObject([{ perSecond: 10 }])
  expect(await limitsOf(sites, organizationId, 'a@small.test')).toMatchObject([
    { key: 'site/small.test', perSecond: 1 },
  ])
  expect(await limitsOf(sites, organizationId, 'a@unlisted.test')).toEqual([])
  // All organizations share the limits of the mail server of the installation.
  expect(
    await sites.limitsFor({ organizationId, serverOrganizationId: undefined, address: 'a@gmail.com' }),
  ).toMatchObject([{ organizationId: operator, key: 'site/google', perSecond: 8 }])
})

test('two deferrals within an hour slow a site down to a tenth for 90 minutes', async () => {
  const organizationId = await createOrganization()
  const sites = new ReceivingSites(testDb.db, newLookup())
  const address = 'a@office.test'
  const delivery = { organizationId, serverOrganizationId: organizationId, address }
  const reply = '421-4.7.28 Our system has detected an unusual rate of unsolicited mail'
  await sites.deferred(delivery, reply, { isCertain: true })
  expect(await limitsOf(sites, organizationId, address)).toMatchObject([{ perSecond: 20 }])
  await sites.deferred(delivery, reply, { isCertain: true })
  expect(await limitsOf(sites, organizationId, address)).toMatchObject([{ perSecond: 2 }])
  expect(await limitsOf(sites, organizationId, 'a@yahoo.com')).toMatchObject([{ perSecond: 10 }])
  const [row] = await testDb.db<{ minutes: number; reason: string }>`
    select (extract(epoch from slowed_until - now()) / 60)::float8 as minutes, slowed_reason as reason
    from receiving_sites where organization_id = ${organizationId}`
  expect(row!.minutes).toBeGreaterThan(89)
  expect(row!.minutes).toBeLessThanOrEqual(90)
  expect(row!.reason).toBe(reply)

  await testDb.db.statement`
    update receiving_sites set slowed_until = now() where organization_id = ${organizationId}`
  await sites.changed(organizationId)
  expect(await limitsOf(sites, organizationId, address)).toMatchObject([{ perSecond: 20 }])
})

test('replies to email of one organization slow down no other that uses the same mail server, those of two do', async () => {
  const [mine, second, other] = [await createOrganization(), await createOrganization(), await createOrganization()]
  const [operator] = await testDb.db<{ id: OrganizationId }>`select id from organizations where is_operator`
  const sites = new ReceivingSites(testDb.db, newLookup())
  const address = 'a@aol.com'
  const deliveryOf = (organizationId: OrganizationId) => ({ organizationId, serverOrganizationId: undefined, address })
  const rateOf = async (organizationId: OrganizationId) =>
    Math.min(...(await sites.limitsFor(deliveryOf(organizationId))).map(({ perSecond }) => perSecond!))
  const usual = await rateOf(other)
  const defer = (organizationId: OrganizationId) =>
    sites.deferred(deliveryOf(organizationId), '421 4.7.0', { isCertain: true })
  for (let reply = 0; reply < 3; reply++) await defer(mine)
  expect([await rateOf(mine), await rateOf(other)]).toEqual([0.1 * usual, usual])
  await defer(second)
  await sites.changed(operator!.id)
  expect(await rateOf(other)).toBe(0.1 * usual)
})

test('bounces of an organization slow down only its email if the mail server belongs to others', async () => {
  const [mine, other] = [await createOrganization(), await createOrganization()]
  const sites = new ReceivingSites(testDb.db, newLookup())
  const delivery = { organizationId: mine, serverOrganizationId: undefined, address: 'a@icloud.com' }
  for (let bounce = 0; bounce < 2; bounce++) await sites.deferred(delivery, '4.7.0', { isCertain: false })
  expect(await sites.limitsFor(delivery)).toMatchObject([
    { perSecond: 5 },
    { organizationId: mine, key: 'site/apple', perSecond: 0.5 },
  ])
  expect(await sites.limitsFor({ ...delivery, organizationId: other })).toMatchObject([{ perSecond: 5 }])
})
