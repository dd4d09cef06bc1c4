import { createHash } from 'node:crypto'
import type { User } from '../src/accounts/accounts.sql.ts'
import { register } from '../src/accounts/accounts.ts'
import { databaseOf } from '../src/commands/run.ts'
import { readConfig, readEnvironment } from '../src/config.ts'
import { createGroup } from '../src/contacts/groups.ts'
import { MemberAdder, membersMax } from '../src/contacts/members.ts'
import type { Db } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { ensurePartitions } from '../src/events/partitions.ts'
import { derivedEventId, type NewEvent, recordEvents } from '../src/events/record.ts'
import { createFlow } from '../src/flows/flows.ts'
import type { ContactId, EventId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../src/ids.ts'
import { toText } from '../src/ids.ts'
import { openLog } from '../src/log.ts'

// An organization as large as the app must stay quick with: `npm run seed`, then `npm start` and sign in as it says.

const contactsWanted = 100_000
const flowsWanted = 200
const eventsWanted = 1_000_000
const days = 120
const messagesPerBatch = 2_000
const email = 'seed@example.com'
const password = 'seeded for a look around'

const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Margaret', 'Ken', 'Frances']
const lastNames = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Perlman', 'Hamilton', 'Thompson']

type Flow = { id: FlowId; versionId: FlowVersionId; subject: string }
type Contact = { id: ContactId; email: string }
type Message = { id: MessageId; flow: Flow; contact: Contact; atMs: number }

const config = readConfig(readEnvironment())
const database = await databaseOf(config, await openLog('warn'))
try {
  await migrate(database.db)
  await seed(database.db)
} finally {
  await database.close()
}

async function seed(db: Db): Promise<void> {
  const owner = await register(db, 'open', { organizationName: 'Seeded Shop', email, password })
  const contacts = await seedContacts(db, owner.organizationId)
  const flows = await seedFlows(db, owner)
  await seedMail(db, owner.organizationId, contacts, flows)
  await db.alone.script('vacuum analyze')
  process.stdout.write(`Sign in as ${email} with the password “${password}”.\n`)
}

async function seedContacts(db: Db, organizationId: OrganizationId): Promise<Contact[]> {
  const groups = []
  for (const name of ['Customers', 'Newsletter', 'Trial', 'Partners'])
    groups.push(await createGroup(db, organizationId, name))
  const adder = new MemberAdder(db)
  for (let start = 0; start < contactsWanted; start += membersMax) {
    const members = Array.from({ length: membersMax }, (_, i) => memberOf(start + i))
    const group = groups[(start / membersMax) % groups.length]!
    await adder.add(organizationId, { group_id: toText('grp', group.id), members })
    tell('contacts', start + membersMax, contactsWanted)
  }
  return db<Contact>`select id, email from contacts where organization_id = ${organizationId} order by id`
}

function memberOf(i: number) {
  const first = firstNames[i % firstNames.length]!
  const last = lastNames[i % lastNames.length]!
  return {
    email: `${first}.${last}.${i}@example.com`.toLowerCase(),
    first_name: first,
    last_name: last,
    attributes: { plan: i % 5 === 0 ? 'pro' : 'free', orders: i % 17 },
  }
}

async function seedFlows(db: Db, { organizationId, id: userId }: User): Promise<Flow[]> {
  const subjects = ['Your order {{ order_id }}', 'Your invoice', 'This week in the shop', 'Reset your password']
  for (let i = 0; i < flowsWanted; i++) {
    await createFlow(db, organizationId, userId, {
      name: `${['Order', 'Invoice', 'Digest', 'Password'][i % 4]} ${i + 1}`,
      kind: i % 4 === 2 ? 'marketing' : 'transactional',
      status: i % 20 === 19 ? 'paused' : 'active',
      subject: subjects[i % 4]!,
      html: '<h1>Hello {{ contact.first_name | default: "there" }}</h1><p><a href="https://example.com/">Look</a></p>',
      htmlFormat: 'html',
      text: null,
      fromName: null,
      fromEmail: null,
      replyTo: null,
    })
  }
  tell('flows', flowsWanted, flowsWanted)
  return db<Flow>`
    select id, version_id, name as subject from flows where organization_id = ${organizationId} order by id`
}

/** Messages in the order of time, each with what became of it, until there are events enough. */
async function seedMail(db: Db, organizationId: OrganizationId, contacts: Contact[], flows: Flow[]): Promise<void> {
  await ensurePartitions(db)
  const endMs = Date.now()
  const startMs = endMs - days * 24 * 3_600_000
  const messagesExpected = eventsWanted / 2.6
  let events = 0
  for (let number = 0; events < eventsWanted; ) {
    const batch: Message[] = []
    for (; batch.length < messagesPerBatch; number++) {
      const atMs = Math.min(endMs - 1000, Math.floor(startMs + ((endMs - startMs) * number) / messagesExpected))
      const flow = flows[(number * 7) % flows.length]!
      const contact = contacts[(number * 13) % contacts.length]!
      batch.push({ id: idAt(atMs, `message ${number}`) as MessageId, flow, contact, atMs })
    }
    const happened = batch
      .flatMap((message) => eventsOf(organizationId, message, endMs))
      .slice(0, eventsWanted - events)
    await db.begin(async (tx) => {
      await tx`
        insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, status,
          queued_at)
        select ${organizationId}, id, flow_id, flow_version_id, contact_id, email, subject, '{}', 'queued', queued_at
        from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ flow }) => flow.id)}::uuid[],
          ${batch.map(({ flow }) => flow.versionId)}::uuid[], ${batch.map(({ contact }) => contact.id)}::uuid[],
          ${batch.map(({ contact }) => contact.email)}::text[], ${batch.map(({ flow }) => flow.subject)}::text[],
          ${batch.map(({ atMs }) => new Date(atMs))}::timestamptz[])
          as given (id, flow_id, flow_version_id, contact_id, email, subject, queued_at)`
      await recordEvents(tx, happened)
    })
    events += happened.length
    tell('events', events, eventsWanted)
  }
}

/** What becomes of a mail, decided by its id alone: two seeds of the same day are alike. */
function eventsOf(organizationId: OrganizationId, { id, flow, contact, atMs }: Message, endMs: number): NewEvent[] {
  const chance = Number.parseInt(createHash('sha256').update(id).digest('hex').slice(0, 6), 16) / 0xffffff
  const make = (eventName: NewEvent['eventName'], afterMs: number, more: Partial<NewEvent> = {}): NewEvent => ({
    id: derivedEventId(id, `${eventName} ${afterMs}`) as EventId,
    organizationId,
    eventName,
    occurredAt: new Date(Math.min(atMs + afterMs, endMs)),
    messageId: id,
    flowId: flow.id,
    contactId: contact.id,
    machine: false,
    machineReason: null,
    data: {},
    ...more,
  })
  const agent = { user_agent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)' }
  const events = [make('emailSent', 500)]
  if (chance < 0.02) {
    const bounce = { type: 'soft', status: '4.2.2', reply_code: 452, reason: 'Mailbox full', diagnostic: null } as const
    return [...events, make('emailSoftBounce', 60_000, { data: { bounce } })]
  }
  if (chance < 0.9)
    events.push(make('emailOpen', 2_000, { machine: true, machineReason: 'apple_privacy', data: agent }))
  if (chance > 0.45) events.push(make('emailOpen', 3_600_000, { data: agent }))
  if (chance > 0.8) events.push(make('emailClick', 3_660_000, { data: { ...agent, url: 'https://example.com/' } }))
  if (chance > 0.995) events.push(make('contactUnsubscribe', 3_700_000, { data: { method: 'page' } }))
  return events
}

function idAt(ms: number, what: string): string {
  const time = ms.toString(16).padStart(12, '0')
  const hash = createHash('sha256').update(what).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

function tell(what: string, done: number, of: number): void {
  const line = `${done.toLocaleString('en')} of ${of.toLocaleString('en')} ${what}`
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}${done >= of ? '\n' : ''}`)
  else if (done >= of) process.stdout.write(`${line}\n`)
}
