import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import type { User } from '../src/accounts/accounts.sql.ts'
import { register } from '../src/accounts/accounts.ts'
import { databaseOf } from '../src/commands/run.ts'
import { readConfig, readEnvironment } from '../src/config/config.ts'
import { createGroup } from '../src/contacts/groups.ts'
import { membersMax } from '../src/contacts/members.task.ts'
import { MemberAdder } from '../src/contacts/members.ts'
import type { Db, Tx } from '../src/db/db.ts'
import { migrate } from '../src/db/migrate.ts'
import { ensurePartitions } from '../src/events/partitions.ts'
import { derivedEventId, type NewEvent, recordEvents } from '../src/events/record.ts'
import { createFlow } from '../src/flows/flows.ts'
import { TemplateRunner } from '../src/flows/template-runner.ts'
import { createSenderPolicy } from '../src/mail/sender-policy.ts'
import { openLog } from '../src/runtime/log.ts'
import { TaskPool } from '../src/tasks/pool.ts'
import type { ContactId, EventId, FlowId, FlowVersionId, MessageId, OrganizationId } from '../src/values/ids.ts'
import { toText } from '../src/values/ids.ts'

const help = `Usage: npm run seed

Creates a large sample organization with 100,000 contacts, 200 flows and 1,000,000 events in the configured database,
and prints how to sign in. Takes no options except --help. Configure the database with DATABASE_URL or DATA_DIR.
`

readArguments()

const contactsWanted = 100_000
const flowsWanted = 200
const eventsWanted = 1_000_000
// Slightly below the average of `eventsOf`, so that there are enough messages.
const eventsPerMessage = 2.6
const days = 120
const dayMs = 24 * 3_600_000
const messagesPerBatch = 2_000
const email = 'seed@example.com'
const password = 'seeded for a look around'

const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Margaret', 'Ken', 'Frances']
const lastNames = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Perlman', 'Hamilton', 'Thompson']

type Flow = { id: FlowId; versionId: FlowVersionId; subject: string }
type Contact = { id: ContactId; email: string }
type Message = { id: MessageId; flow: Flow; contact: Contact; atMs: number; bounced: boolean }

const config = readConfig(readEnvironment())
const database = await databaseOf(config, await openLog('warn'))
try {
  await migrate(database.db)
  await seed(database.db)
} finally {
  await database.close()
}

/** Exits after printing the help, or with an error on an unknown option: seeding is slow and not easily undone. */
function readArguments(): void {
  try {
    const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
    if (!values.help) return
    process.stdout.write(help)
    process.exit(0)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`)
    process.exit(2)
  }
}

async function seed(db: Db): Promise<void> {
  const owner = await register(db, 'operator', { organizationName: 'Seeded Shop', email, password })
  const contacts = await seedContacts(db, owner.organizationId)
  const flows = await seedFlows(db, owner)
  await seedMail(db, owner.organizationId, contacts, flows)
  await db.statement.script('vacuum analyze')
  process.stdout.write(`Sign in as ${email} with the password “${password}”.\n`)
}

async function seedContacts(db: Db, organizationId: OrganizationId): Promise<Contact[]> {
  const groups = []
  for (const name of ['Customers', 'Newsletter', 'Trial', 'Partners'])
    groups.push(await createGroup(db, organizationId, name))
  const tasks = new TaskPool({ processes: 1 })
  const adder = new MemberAdder(db, tasks)
  for (let start = 0; start < contactsWanted; start += membersMax) {
    const members = Array.from({ length: membersMax }, (_, i) => memberOf(start + i))
    const group = groups[(start / membersMax) % groups.length]!
    const body = JSON.stringify({ group_id: toText('grp', group.id), members })
    await adder.add(organizationId, Buffer.from(body), { type: 'system', id: null })
    reportProgress('contacts', start + membersMax, contactsWanted)
  }
  tasks.stop()
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

const anySender = createSenderPolicy({
  isEnforced: false,
  allowedDomains: [],
  defaultSender: '',
  dkimDomain: undefined,
})

// Light templates do not need a task process.
const runner = new TemplateRunner({ tasks: new TaskPool({ processes: 2 }), cpuMs: 20 })

async function seedFlows(db: Db, { organizationId, id: userId }: User): Promise<Flow[]> {
  const subjects = ['Your order {{ order_id }}', 'Your invoice', 'This week in the shop', 'Reset your password']
  for (let i = 0; i < flowsWanted; i++) {
    await createFlow({ db, senders: anySender, runner }, organizationId, userId, {
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
  reportProgress('flows', flowsWanted, flowsWanted)
  return db<Flow>`
    select flows.id, version_id, subject
    from flows
    join flow_versions versions on versions.organization_id = flows.organization_id and versions.id = version_id
    where flows.organization_id = ${organizationId}
    order by flows.id`
}

/** Generates messages with their events, newest first, until there are enough events. */
async function seedMail(db: Db, organizationId: OrganizationId, contacts: Contact[], flows: Flow[]): Promise<void> {
  await ensurePartitions(db)
  const endMs = Date.now()
  const moments = momentsUntil(endMs, Math.ceil(eventsWanted / eventsPerMessage))
  let events = 0
  for (let start = 0; start < moments.length && events < eventsWanted; start += messagesPerBatch) {
    const batch = moments.slice(start, start + messagesPerBatch).map((atMs, i): Message => {
      const id = idAt(atMs, `message ${start + i}`) as MessageId
      // A few flows send most of the emails, as in practice.
      const flow = flows[Math.floor(flows.length * chanceOf(id, 'flow') ** 3)]!
      const contact = contacts[Math.floor(contacts.length * chanceOf(id, 'contact'))]!
      return { id, flow, contact, atMs, bounced: chanceOf(id, 'bounce') < 0.02 }
    })
    const happened = batch
      .flatMap((message) => eventsOf(organizationId, message, endMs))
      .slice(0, eventsWanted - events)
    await db.begin(async (tx) => {
      await insertMessages(tx, organizationId, batch)
      await recordEvents(tx, happened)
    })
    events += happened.length
    reportProgress('events', events, eventsWanted)
  }
}

/** Sending times over the last days: more by day than by night, fewer at weekends, and growing. */
function momentsUntil(endMs: number, count: number): number[] {
  const weights = Array.from({ length: days }, (_, day) => {
    const weekday = new Date(endMs - (days - 1 - day) * dayMs).getUTCDay()
    const weekend = weekday === 0 || weekday === 6
    return (weekend ? 0.45 : 1) * (0.7 + (0.6 * day) / days) * (1 + 0.25 * Math.sin(day / 8))
  })
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const moments = weights.flatMap((weight, day) => {
    const ofDay = Math.round((count * weight) / sum)
    const dayEndMs = endMs - (days - 1 - day) * dayMs
    return Array.from({ length: ofDay }, (_, i) => Math.floor(dayEndMs - dayMs * (1 - (i + 1) / ofDay) ** 1.3))
  })
  return moments.sort((a, b) => b - a)
}

async function insertMessages(tx: Tx, organizationId: OrganizationId, batch: Message[]): Promise<void> {
  const subject = ({ flow, id }: Message) => flow.subject.replace('{{ order_id }}', `A-${id.slice(-5)}`)
  await tx`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context, recipient,
      status, queued_at, sent_at)
    select ${organizationId}, given.id, flow_id, flow_version_id, contact_id, email, subject, '{"order_id": "A-1001"}',
      (select jsonb_strip_nulls(jsonb_build_object('first_name', first_name, 'last_name', last_name))
        from contacts where contacts.organization_id = ${organizationId} and contacts.id = given.contact_id),
      status, queued_at, queued_at
    from unnest(${batch.map(({ id }) => id)}::uuid[], ${batch.map(({ flow }) => flow.id)}::uuid[],
      ${batch.map(({ flow }) => flow.versionId)}::uuid[], ${batch.map(({ contact }) => contact.id)}::uuid[],
      ${batch.map(({ contact }) => contact.email)}::text[], ${batch.map(subject)}::text[],
      ${batch.map(({ bounced }) => (bounced ? 'bounced' : 'sent'))}::text[],
      ${batch.map(({ atMs }) => new Date(atMs))}::timestamptz[])
      as given (id, flow_id, flow_version_id, contact_id, email, subject, status, queued_at)`
}

/** The events of an email, derived from its id only, so that two seeds of the same day are equal. */
function eventsOf(
  organizationId: OrganizationId,
  { id, flow, contact, atMs, bounced }: Message,
  endMs: number,
): NewEvent[] {
  const chance = chanceOf(id, 'reader')
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
  if (bounced) {
    const bounce = { type: 'soft', status: '4.2.2', reply_code: 452, reason: 'Mailbox full', diagnostic: null } as const
    return [...events, make('emailSoftBounce', 60_000, { data: { bounce } })]
  }
  if (chance < 0.9)
    events.push(make('emailOpen', 2_000, { machine: true, machineReason: 'apple_privacy', data: agent }))
  if (chance > 0.45) events.push(make('emailOpen', 3_600_000, { data: agent }))
  if (chance > 0.8) events.push(make('emailClick', 3_660_000, { data: { ...agent, url: 'https://example.com/' } }))
  if (chance > 0.9995) events.push(make('emailComplaint', 3_680_000, { data: { feedback_type: 'abuse' } }))
  else if (chance > 0.995) events.push(make('contactUnsubscribe', 3_700_000, { data: { method: 'page' } }))
  return events
}

/** Returns a number from 0 to 1 that is always the same for the same message. */
function chanceOf(id: MessageId, what: string): number {
  return Number.parseInt(createHash('sha256').update(`${id} ${what}`).digest('hex').slice(0, 8), 16) / 0x1_0000_0000
}

function idAt(ms: number, what: string): string {
  const time = ms.toString(16).padStart(12, '0')
  const hash = createHash('sha256').update(what).digest('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`
}

function reportProgress(what: string, done: number, of: number): void {
  const line = `${done.toLocaleString('en')} of ${of.toLocaleString('en')} ${what}`
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}${done >= of ? '\n' : ''}`)
  else if (done >= of) process.stdout.write(`${line}\n`)
}
