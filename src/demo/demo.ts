import { hkdfSync } from 'node:crypto'
import { register } from '../accounts/accounts.ts'
import { createGroup } from '../contacts/groups.ts'
import { MemberAdder } from '../contacts/members.ts'
import type { Db } from '../db/db.ts'
import { ensurePartitions } from '../events/partitions.ts'
import { createFlow } from '../flows/flows.ts'
import { TemplateRunner } from '../flows/template-runner.ts'
import { createSenderPolicy } from '../mail/sender-policy.ts'
import { removeOrganization } from '../privacy/delete-organization.ts'
import { eraseDeletedOrganizations } from '../privacy/erase-organization.ts'
import { Hints } from '../queue/hints.ts'
import type { Log } from '../runtime/log.ts'
import type { AppSecrets, SecretBox } from '../secrets/secrets.ts'
import { TaskPool } from '../tasks/pool.ts'
import { type OrganizationId, toText, type UserId } from '../values/ids.ts'
import { addPastDeliveries, type PastAnswer } from '../webhooks/past-deliveries.ts'
import { webhookSecretBox } from '../webhooks/signing-secrets.ts'
import { changeWebhook, createWebhook } from '../webhooks/webhooks.ts'
import { demoFlows, firstNames, groupNames, lastNames } from './content.ts'
import { findDemo, findVersionId, selectContacts } from './demo.sql.ts'
import { addPastMail, chanceOf, type PastFlow } from './past-mail.ts'

const name = 'Waxwing demo'
const email = 'demo@demo.example'
/** Twice the period of the overview, which compares it with the one before. */
const days = 60
const contactsWanted = 400
const messagesWanted = 3_600
const deliveriesWanted = 300
const rates = { softBounces: 0.02, hardBounces: 0.006 }
const templateCpuMs = 20

export type DemoAccount = { email: string; password: string }

/** The password follows from APP_SECRET: it can be shown at every start, and nobody else can guess it. */
const accountOf = ({ current }: AppSecrets): DemoAccount => ({
  email,
  password: Buffer.from(hkdfSync('sha256', current, '', 'password of the demo account', 12)).toString('base64url'),
})

/** Creates the demo organization with sample data of the last 60 days, unless it exists, and returns its account. */
export async function ensureDemo(db: Db, secrets: AppSecrets): Promise<DemoAccount> {
  const account = accountOf(secrets)
  if (await findDemo(db, { emailKey: email, name })) return account
  const { organizationId, id: userId } = await register(db, 'operator', { organizationName: name, ...account })
  const tasks = new TaskPool({ processes: 1 })
  try {
    await addContacts(db, tasks, organizationId)
    const flows = await addFlows(db, tasks, { organizationId, userId })
    await ensurePartitions(db)
    const contacts = await selectContacts(db, organizationId)
    await addPastMail(db, { organizationId, contacts, flows, days, messages: messagesWanted, rates })
    await addWebhook(db, webhookSecretBox(secrets), { organizationId, userId })
  } finally {
    tasks.stop()
  }
  return account
}

async function addContacts(db: Db, tasks: TaskPool, organizationId: OrganizationId): Promise<void> {
  const adder = new MemberAdder(db, tasks)
  for (const [index, groupName] of groupNames.entries()) {
    const group = await createGroup(db, organizationId, groupName)
    const members = Array.from({ length: contactsWanted }, (_, n) => memberOf(n)).filter(
      (_, n) => n % groupNames.length === index || (index === 0 && n % 2 === 0),
    )
    const body = JSON.stringify({ group_id: toText('grp', group.id), members })
    await adder.add(organizationId, Buffer.from(body), { type: 'system', id: null })
  }
}

function memberOf(n: number) {
  const first = firstNames[n % firstNames.length]!
  const last = lastNames[n % lastNames.length]!
  return {
    email: `${first}.${last}.${n}@example.com`.toLowerCase(),
    first_name: first,
    last_name: last,
    attributes: { plan: n % 5 === 0 ? 'pro' : 'free', orders: n % 17 },
  }
}

type Owner = { organizationId: OrganizationId; userId: UserId }

async function addFlows(db: Db, tasks: TaskPool, { organizationId, userId }: Owner): Promise<PastFlow[]> {
  const runner = new TemplateRunner({ tasks, cpuMs: templateCpuMs })
  // Flows without a sender of their own use MAIL_FROM, which is always allowed.
  const senders = createSenderPolicy({
    isEnforced: false,
    allowedDomains: [],
    defaultSender: '',
    dkimDomain: undefined,
  })
  const added: PastFlow[] = []
  for (const { flow, messageOf, url } of demoFlows) {
    const rest = {
      status: 'active',
      htmlFormat: 'html',
      text: null,
      fromName: null,
      fromEmail: null,
      replyTo: null,
    } as const
    const id = await createFlow({ db, senders, runner }, organizationId, userId, { ...flow, ...rest })
    const versionId = await findVersionId(db, organizationId, id)
    added.push({ id, versionId: versionId!, messageOf, url })
  }
  return added
}

/** Paused, so that nothing is sent: its log shows what was sent before. */
async function addWebhook(db: Db, box: SecretBox, owner: Owner): Promise<void> {
  const parts = { db, box, hints: new Hints(db), allowPrivate: false }
  const input = { name: 'Shop', url: 'https://shop.example/webhooks/waxwing', allEvents: true }
  const { webhook, secret } = await createWebhook(parts, owner, input)
  await changeWebhook(parts, owner.organizationId, webhook.id, { status: 'paused' })
  await addPastDeliveries(db, { ...webhook, secret }, { limit: deliveriesWanted, answersOf: ({ id }) => answersOf(id) })
  await parts.hints.stop()
}

function answersOf(eventId: string): PastAnswer[] {
  const chance = chanceOf(eventId, 'answer')
  const durationMs = Math.round(30 + 400 * chanceOf(eventId, 'duration') ** 3)
  const fine = { statusCode: 200, durationMs, body: 'ok' }
  const busy = { statusCode: 503, durationMs, body: 'Service Unavailable' }
  if (chance < 0.02) return [busy, busy, busy, busy]
  if (chance < 0.04) return [{ statusCode: 404, durationMs, body: 'Not Found' }]
  return chance < 0.09 ? [busy, fine] : [fine]
}

/** Deletes the demo organization with all of its data. Returns false if there is none. */
export async function removeDemo(db: Db, log: Log): Promise<boolean> {
  const demo = await findDemo(db, { emailKey: email, name })
  if (!demo) return false
  await removeOrganization(db, demo.organizationId)
  // A running service would do this within a minute; without one, it is done now.
  await eraseDeletedOrganizations({ db, log })
  return true
}
