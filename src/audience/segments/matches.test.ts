import { expect, test } from 'vitest'
import {
  type NaiveContact,
  type NaiveEmail,
  type NaiveEvent,
  naiveMatches,
} from '../../../test/support/naive-filter.ts'
import { announcedSeed, type Seeded } from '../../../test/support/seeded.ts'
import { createTestDb } from '../../../test/support/test-db.ts'
import type { Db } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import {
  type BroadcastId,
  type FlowId,
  type GroupId,
  newId,
  type OrganizationId,
  toText,
} from '../../platform/values/ids.ts'
import { broadcastOperators } from './broadcast-recipients.ts'
import { type Condition, contactStatuses, type Filter, operators, textFields } from './filter.ts'
import { isSampled, matchesFilter } from './matches.ts'
import { resolveFilter } from './nested-segments.ts'
import { checkFilter } from './parse-filter.ts'
import { createSegment } from './segments.ts'

const contactsCount = 10_000
const filtersCount = 100
const now = new Date('2026-06-15T12:00:00Z')
const dayMs = 24 * 60 * 60 * 1_000

const words = [
  'Ada',
  'ADA',
  'Äpfel',
  'äPFEL',
  'Straße',
  'pro',
  'Pro',
  'a_b',
  '100%',
  "O'Hara",
  '\\',
  '$1',
  '',
  ' x ',
  '😀',
]
const values: unknown[] = [
  ...words,
  0,
  1,
  2.5,
  -3,
  '2.5',
  ' 2.5 ',
  '+1',
  '.5',
  '1e3',
  '--1',
  '٣',
  true,
  false,
  'Yes',
  'no',
  '1',
  'TRUE',
  null,
  '2026-06-15',
  '2026-06-14T23:59:59+02:00',
  '2026-02-31',
  '2020-01-01',
  '2026-06-20',
  '15.06.2026',
  '20260615',
  [],
  ['a', 'B'],
  ['pro', 1, null, true],
  'a, b ,pro',
  ',',
  { a: 1 },
]
const keys = ['plan', 'a.b', "key'quoted", 'ключ']
const days = ['2026-06-15', '2026-06-14', '2026-06-16', '2020-01-01', '2026-03-01']

type World = {
  organizationId: OrganizationId
  groupIds: GroupId[]
  flowIds: FlowId[]
  broadcastIds: BroadcastId[]
  segmentIds: string[]
  contacts: NaiveContact[]
}

function imagine(random: Seeded): World {
  const groupIds = Array.from({ length: 4 }, () => newId('grp'))
  const flowIds = Array.from({ length: 3 }, () => newId('flw'))
  const broadcastIds = Array.from({ length: 2 }, () => newId('brc'))
  const time = (daysMax: number) => new Date(+now - Math.floor(random.next() * daysMax * dayMs))
  const event = (): NaiveEvent => ({
    eventName: random.pick(eventNames),
    occurredAt: time(100),
    flowId: random.chance(0.1) ? null : random.pick(flowIds),
    machine: random.chance(0.3),
  })
  const email = (broadcastId: BroadcastId): NaiveEmail => ({
    broadcastId,
    messageId: newId('msg'),
    status: random.pick(['sent', 'sent', 'sent', 'bounced']),
    opened: random.chance(0.4),
    clicked: random.chance(0.2),
  })
  const contact = (_: unknown, index: number): NaiveContact => ({
    id: newId('con'),
    email: `${random.pick(['Ada', 'bob', 'x.y'])}${index}@${random.pick(['example.com', 'Shop.example', 'xn--pfel-koa.example'])}`,
    firstName: random.pick([...words.filter(Boolean), null]),
    lastName: random.pick([...words.filter(Boolean), null]),
    attributes: Object.fromEntries(keys.filter(() => random.chance(0.6)).map((key) => [key, random.pick(values)])),
    subscription: random.pick(['subscribed', 'subscribed', 'not_subscribed', 'unsubscribed']),
    isSuppressed: random.chance(0.1),
    createdAt: time(400),
    groupIds: groupIds.filter(() => random.chance(0.2)),
    events: Array.from({ length: random.int(0, 5) }, event),
    emails: broadcastIds.filter(() => random.chance(0.4)).map(email),
  })
  return {
    organizationId: newId('org'),
    groupIds,
    flowIds,
    broadcastIds,
    segmentIds: [],
    contacts: Array.from({ length: contactsCount }, contact),
  }
}

async function store(db: Db, { organizationId, contacts }: World): Promise<void> {
  await db.statement`insert into organizations (id, name) values (${organizationId}, 'World')`
  await db.statement`
    insert into contacts (organization_id, id, email, email_key, first_name, last_name, attributes, subscription, created_at)
    select ${organizationId}, id, email, lower(email), first_name, last_name, attributes::jsonb, subscription, created_at
    from unnest(
      ${contacts.map(({ id }) => id)}::uuid[], ${contacts.map(({ email }) => email)}::text[],
      ${contacts.map(({ firstName }) => firstName)}::text[], ${contacts.map(({ lastName }) => lastName)}::text[],
      ${contacts.map(({ attributes }) => JSON.stringify(attributes))}::text[],
      ${contacts.map(({ subscription }) => subscription)}::text[],
      ${contacts.map(({ createdAt }) => createdAt)}::timestamptz[]
    ) as contact (id, email, first_name, last_name, attributes, subscription, created_at)`
  const suppressed = contacts.filter(({ isSuppressed }) => isSuppressed)
  await db.statement`
    insert into suppressions (organization_id, email_key, reason, email)
    select ${organizationId}, lower(email), reason, email
    from unnest(${suppressed.map(({ email }) => email)}::text[]) as email, unnest(array['manual', 'complaint']) as reason`
  await db.statement`
    insert into suppressions (organization_id, email_key, reason, email)
    select organization_id, email_key, 'unsubscribe', email from contacts
    where organization_id = ${organizationId} and subscription = 'unsubscribed'`
  const members = contacts.flatMap(({ id, groupIds }) => groupIds.map((groupId) => ({ id, groupId })))
  await db.statement`
    insert into group_members (organization_id, group_id, contact_id)
    select ${organizationId}, * from unnest(${members.map(({ groupId }) => groupId)}::uuid[], ${members.map(({ id }) => id)}::uuid[])`
  const events = contacts.flatMap(({ id, events }) => events.map((event) => ({ contactId: id, ...event })))
  await db.statement`
    insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, machine)
    select ${organizationId}, id, event_name, occurred_at, id, flow_id, contact_id, machine
    from unnest(
      ${events.map(() => newId('evt'))}::uuid[], ${events.map(({ eventName }) => eventName)}::text[],
      ${events.map(({ occurredAt }) => occurredAt)}::timestamptz[], ${events.map(({ flowId }) => flowId)}::uuid[],
      ${events.map(({ contactId }) => contactId)}::uuid[], ${events.map(({ machine }) => machine)}::bool[]
    ) as event (id, event_name, occurred_at, flow_id, contact_id, machine)`
  await storeEmails(db, organizationId, contacts)
}

/** An open or click whose time is infinity turned out to be automated. */
async function storeEmails(db: Db, organizationId: OrganizationId, contacts: NaiveContact[]): Promise<void> {
  const emails = contacts.flatMap(({ id, emails }) => emails.map((email) => ({ contactId: id, ...email })))
  await db.statement`
    insert into broadcast_recipients (organization_id, broadcast_id, contact_id, status, message_id)
    select ${organizationId}, * from unnest(
      ${emails.map(({ broadcastId }) => broadcastId)}::uuid[], ${emails.map(({ contactId }) => contactId)}::uuid[],
      ${emails.map(({ status }) => status)}::text[], ${emails.map(({ messageId }) => messageId)}::uuid[])`
  await db.statement`
    insert into first_occurrences (organization_id, subject_id, event_name, occurred_at)
    select ${organizationId}, message_id, event_name, case when is_human then now() else 'infinity' end
    from unnest(
      ${emails.map(({ messageId }) => messageId)}::uuid[], ${emails.map(({ opened }) => opened)}::bool[],
      ${emails.map(({ clicked }) => clicked)}::bool[]
    ) as email (message_id, opened, clicked),
    lateral (values ('emailOpen', opened), ('emailClick', clicked)) as reaction (event_name, is_human)`
}

/** Saves segments that later ones name, up to two levels deep. */
async function storeSegments(db: Db, random: Seeded, world: World): Promise<void> {
  await db.statement`
    insert into groups (organization_id, id, name)
    select ${world.organizationId}, id, id::text from unnest(${world.groupIds}::uuid[]) as id`
  for (const count of [2, 2]) {
    const added: string[] = []
    for (let number = 0; number < count; number++) {
      const filter = checkFilter({ type: 'any', conditions: [anyReadable(random, world), anyReadable(random, world)] })
      const segment = await createSegment(db, world.organizationId, { name: `${count} ${newId('seg')}`, filter })
      added.push(toText('seg', segment.id))
    }
    world.segmentIds.push(...added)
  }
}

/** A condition that names no flow and no broadcast, because these are not stored. */
function anyReadable(random: Seeded, world: World): Condition {
  for (;;) {
    const condition = anyCondition(random, world)
    if (condition.type !== 'broadcast' && !(condition.type === 'engagement' && condition.flow_id)) return condition
  }
}

function anyCondition(random: Seeded, { groupIds, flowIds, broadcastIds, segmentIds }: World): Condition {
  const attribute = () => `attributes.${random.pick(keys)}`
  const text = () => random.pick(words.filter(Boolean))
  const types = ['text', 'number', 'date', 'boolean', 'list', 'group', 'status', 'engagement', 'broadcast'] as const
  switch (random.pick([...types, ...(segmentIds.length > 0 ? (['segment'] as const) : [])])) {
    case 'text': {
      const field = random.chance(0.5) ? attribute() : random.pick(textFields)
      const value = field === 'email_domain' ? random.pick(['example.com', 'äpfel.example', 'shop']) : text()
      return { type: 'text', field, operator: random.pick(operators.text), value }
    }
    case 'number':
      return {
        type: 'number',
        field: attribute(),
        operator: random.pick(operators.number),
        value: random.pick([0, 1, 2.5, -3]),
      }
    case 'date': {
      const field = random.chance(0.3) ? 'created_at' : attribute()
      return {
        type: 'date',
        field,
        operator: random.pick(operators.date),
        value: random.pick(days),
        days: random.int(1, 300),
      }
    }
    case 'boolean':
      return { type: 'boolean', field: attribute(), operator: random.pick(operators.boolean) }
    case 'list':
      return {
        type: 'list',
        field: attribute(),
        operator: random.pick(operators.list),
        value: random.pick(['a', 'b', 'PRO', '1']),
      }
    case 'group':
      return {
        type: 'group',
        operator: random.pick(['member', 'not_member']),
        group_id: toText('grp', random.pick(groupIds)),
      }
    case 'status':
      return { type: 'status', operator: random.pick(['is', 'is_not']), value: random.pick(contactStatuses) }
    case 'broadcast':
      return {
        type: 'broadcast',
        operator: random.pick(broadcastOperators),
        broadcast_id: toText('brc', random.pick(broadcastIds)),
      }
    case 'segment':
      return {
        type: 'segment',
        operator: random.pick(['member', 'not_member']),
        segment_id: random.pick(segmentIds),
      }
    case 'engagement':
      return {
        type: 'engagement',
        operator: random.pick(['did', 'did_not']),
        event: random.pick(eventNames),
        ...(random.chance(0.4) && { at_least: random.int(1, 3) }),
        ...(random.chance(0.5) && { within_days: random.int(1, 99) }),
        ...(random.chance(0.4) && { flow_id: toText('flw', random.pick(flowIds)) }),
        ...(random.chance(0.3) && { include_machines: true }),
      }
  }
}

function anyFilter(random: Seeded, world: World, depth = 0): Filter {
  if (depth === 3 || random.chance(0.4)) return anyCondition(random, world)
  const conditions = Array.from({ length: random.int(1, 3) }, () => anyFilter(random, world, depth + 1))
  return { type: random.pick(['all', 'any']), conditions }
}

test('filters select the contacts that a naive evaluation selects', async () => {
  const random = announcedSeed('filters')
  await using testDb = await createTestDb()
  const { db } = testDb
  const world = imagine(random)
  await store(db, world)
  await storeSegments(db, random, world)
  await db.statement.script('analyze')
  const { organizationId, contacts } = world
  for (let count = 0; count < filtersCount; count++) {
    const filter = anyFilter(random, world)
    const resolved = await resolveFilter(db, organizationId, checkFilter(filter))
    const rows = await db.run<{ id: string }>(sql`
      select contacts.id from contacts
      where contacts.organization_id = ${organizationId} and ${matchesFilter(organizationId, resolved, { now })}
      order by contacts.id`)
    const expected = contacts
      .filter((contact) => naiveMatches(contact, filter, now, resolved.segments))
      .map(({ id }) => id)
    const [found, wanted] = [new Set(rows.map(({ id }) => id)), new Set(expected)]
    const wrong = [...expected.filter((id) => !found.has(id)), ...[...found].filter((id) => !wanted.has(id))]
    expect(
      wrong.slice(0, 2).map((id) => contacts.find((contact) => contact.id === id)),
      JSON.stringify(filter),
    ).toEqual([])
    expect(rows.length).toBe(expected.length)
    const sampled = await db.run<{ id: string }>(sql`
      select contacts.id from contacts
      where contacts.organization_id = ${organizationId} and ${isSampled(sql`contacts.id`)}
        and ${matchesFilter(organizationId, resolved, { now, among: isSampled })}
      order by contacts.id`)
    const isInSample = (id: string) => Number.parseInt(id.slice(-2), 16) < 16
    expect(sampled.map(({ id }) => id).toSorted(), JSON.stringify(filter)).toEqual(
      expected.filter(isInSample).toSorted(),
    )
  }
})

test('days begin in the time zone of the organization', async () => {
  await using testDb = await createTestDb()
  const { db } = testDb
  const organizationId = newId('org')
  await db.statement`insert into organizations (id, name, timezone) values (${organizationId}, 'A', 'Asia/Tokyo')`
  await db.statement`
    insert into contacts (organization_id, id, email, email_key, attributes, subscription, created_at)
    values (${organizationId}, ${newId('con')}, 'a@b.example', 'a@b.example', '{"renewal": "2026-06-16"}', 'subscribed',
      '2026-06-14T15:30:00Z')`
  // In Tokyo it is the morning of the 16th.
  const late = new Date('2026-06-15T20:00:00Z')
  const matches = async (condition: Omit<Extract<Condition, { type: 'date' }>, 'type'>) => {
    const filter = await resolveFilter(db, organizationId, checkFilter({ type: 'date', ...condition }))
    const rows = await db.run(sql`select from contacts
      where organization_id = ${organizationId} and ${matchesFilter(organizationId, filter, { now: late })}`)
    return rows.length === 1
  }
  expect(await matches({ field: 'created_at', operator: 'on', value: '2026-06-15' })).toBe(true)
  expect(await matches({ field: 'created_at', operator: 'before', value: '2026-06-15' })).toBe(false)
  expect(await matches({ field: 'attributes.renewal', operator: 'in_last_days', days: 1 })).toBe(true)
  expect(await matches({ field: 'attributes.renewal', operator: 'in_next_days', days: 1 })).toBe(true)
})
