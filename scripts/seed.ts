import { parseArgs } from 'node:util'
import { addPastEmails, chanceOf, type PastEmail } from '../bench/support/past-emails.ts'
import type { User } from '../src/accounts/people/accounts.sql.ts'
import { register } from '../src/accounts/people/accounts.ts'
import { createGroup } from '../src/audience/contacts/groups.ts'
import { membersMax } from '../src/audience/contacts/members.task.ts'
import { MemberAdder } from '../src/audience/contacts/members.ts'
import { createFlow } from '../src/content/flows/flows.ts'
import { TemplateRunner } from '../src/content/flows/template-runner.ts'
import { ensurePartitions } from '../src/events/recording/partitions.ts'
import { databaseOf } from '../src/operations/commands/database.ts'
import { readSettings, readSources } from '../src/platform/config/config.ts'
import type { Db } from '../src/platform/db/db.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { openLog } from '../src/platform/runtime/log.ts'
import { StageRegistry } from '../src/platform/runtime/stage-registry.ts'
import { TaskPool } from '../src/platform/tasks/pool.ts'
import {
  type ContactId,
  derivedId,
  type FlowId,
  type FlowVersionId,
  type OrganizationId,
  toText,
} from '../src/platform/values/ids.ts'

const help = `Usage: npm run seed

Creates a large sample organization with 100,000 contacts, 200 flows and 1,000,000 events in the configured database,
and prints how to sign in. Takes no options except --help. Configure the database with DATABASE_URL or DATA_DIR.
`

readArguments()

const contactsWanted = 100_000
const flowsWanted = 200
const eventsWanted = 1_000_000
// Slightly below the average, so that there are enough messages.
const eventsPerMessage = 2.6
const daysMs = 120 * 86_400_000
const bounceRate = 0.02
const openRate = 0.55
const email = 'seed@example.com'
const password = 'seeded for a look around'

const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Margaret', 'Ken', 'Frances']
const lastNames = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Perlman', 'Hamilton', 'Thompson']

type Flow = { id: FlowId; versionId: FlowVersionId; kind: 'transactional' | 'marketing'; subject: string }
type Contact = { id: ContactId; email: string }

const anySender = { check: async () => {} }

// Light templates do not need a task process.
const runner = new TemplateRunner({ tasks: new TaskPool({ processes: 2 }), cpuMs: 20 })

const config = readSettings(readSources())
const database = await databaseOf(config, await openLog('warn'), { mayCreate: true })
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
  await ensurePartitions(db)
  const endMs = Date.now()
  const emails = Array.from({ length: Math.ceil(eventsWanted / eventsPerMessage) }, (_, n) => {
    const atMs = endMs - Math.floor(daysMs * chanceOf(String(n), 'time'))
    return emailOf(n, atMs, { flows, contacts })
  })
  await addPastEmails(db, emails, {
    organizationId: owner.organizationId,
    endMs,
    eventsMax: eventsWanted,
    onProgress: (events) => reportProgress('events', events, eventsWanted),
  })
  await db.statement.script('vacuum analyze')
  process.stdout.write(`Sign in as ${email} with the password “${password}”.\n`)
}

function emailOf(n: number, atMs: number, { flows, contacts }: { flows: Flow[]; contacts: Contact[] }): PastEmail {
  const id = derivedId('msg', atMs, `message ${n}`)
  // A few flows send most of the emails, as in practice.
  const flow = flows[Math.floor(flows.length * chanceOf(id, 'flow') ** 3)]!
  return {
    id,
    flow,
    contact: contacts[Math.floor(contacts.length * chanceOf(id, 'contact'))]!,
    atMs,
    isBounced: chanceOf(id, 'bounce') < bounceRate,
    subject: flow.subject.replace('{{ order_id }}', `A-${n}`),
    context: { order_id: `A-${n}` },
    url: 'https://example.com/',
    openRate,
    broadcastId: null,
  }
}

async function seedContacts(db: Db, organizationId: OrganizationId): Promise<Contact[]> {
  const groups = []
  for (const name of ['Customers', 'Newsletter', 'Trial', 'Partners'])
    groups.push(await createGroup(db, organizationId, name))
  const tasks = new TaskPool({ processes: 1 })
  const adder = new MemberAdder(db, new StageRegistry(), tasks)
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

async function seedFlows(db: Db, { organizationId, id }: User): Promise<Flow[]> {
  const subjects = ['Your order {{ order_id }}', 'Your invoice', 'This week in the shop', 'Reset your password']
  for (let i = 0; i < flowsWanted; i++) {
    await createFlow(
      { db, senders: anySender, runner },
      organizationId,
      { type: 'user', id },
      {
        name: `${['Order', 'Invoice', 'Digest', 'Password'][i % 4]} ${i + 1}`,
        kind: i % 4 === 2 ? 'marketing' : 'transactional',
        status: i % 20 === 19 ? 'paused' : 'active',
        subject: subjects[i % 4]!,
        source: {
          format: 'html',
          text: '<h1>Hello {{ contact.first_name | default: "there" }}</h1><p><a href="https://example.com/">Look</a></p>',
        },
        text: null,
        fromName: null,
        fromEmail: null,
        replyTo: null,
        preheader: null,
        utm: null,
      },
    )
  }
  reportProgress('flows', flowsWanted, flowsWanted)
  return db<Flow>`
    select flows.id, version_id, flows.kind, subject
    from flows
    join flow_versions versions on versions.organization_id = flows.organization_id and versions.id = version_id
    where flows.organization_id = ${organizationId}
    order by flows.id`
}

function reportProgress(what: string, done: number, of: number): void {
  const line = `${done.toLocaleString('en')} of ${of.toLocaleString('en')} ${what}`
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${line}${done >= of ? '\n' : ''}`)
  else if (done >= of) process.stdout.write(`${line}\n`)
}
