import { hkdfSync } from 'node:crypto'
import { register } from '../../accounts/accounts.ts'
import { datePastSuppressions } from '../../audience/audience.ts'
import { createDraftFlow, createFlow, datePastFlows, getBrandValues, TemplateRunner } from '../../content/content.ts'
import {
  addPastDeliveries,
  createWebhook,
  datePastWebhook,
  ensurePartitions,
  type PastAnswer,
  webhookSecretBox,
} from '../../events/events.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Bucket } from '../../platform/object-storage/bucket.ts'
import type { Log } from '../../platform/runtime/log.ts'
import type { AppSecrets, SecretBox } from '../../platform/secrets/secrets.ts'
import { TaskPool } from '../../platform/tasks/pool.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { eventNames } from '../../platform/values/event-types.ts'
import type { OrganizationId, UserId } from '../../platform/values/ids.ts'
import { demoDomain } from '../../platform/values/simulated-recipients.ts'
import { removeOrganization } from '../privacy/delete-organization.ts'
import { eraseDeletedOrganizations } from '../privacy/erase-organization.ts'
import { type Audience, accountAgeDays, addAudience, addSegments } from './audience.ts'
import { addBrand } from './brand.ts'
import { addBroadcasts, addScheduledBroadcast, planBroadcasts } from './broadcasts.ts'
import { chanceOf } from './chance.ts'
import { broadcastFlows, type DemoFlow, demoFlows, draftFlow, shopUrl } from './content.ts'
import { findDemo, findVersionId } from './demo.sql.ts'
import { addPastEmails } from './past-emails.ts'
import { planEmails } from './plan-emails.ts'
import type { PastFlow } from './planned-message.ts'

const name = 'Waxwing demo'
const email = `demo@${demoDomain}`
/** Twice the period of the overview, which compares it with the one before. */
const days = 60
const messagesWanted = 3_600
const deliveriesWanted = 300
/** Flows and the webhook are older than the first email. */
const flowAgeDays = 75
const draftAgeDays = 1
const segmentAgeDays = 20
/** The position of the weekly digest among the flows. */
const digestIndex = 2
const rates = { softBounces: 0.02, hardBounces: 0.006 }
const templateCpuMs = 20

export type DemoAccount = { email: string; password: string }
/** `createdAt`: when the sample data ends. */
export type Demo = { account: DemoAccount; createdAt: Date }

/** The password follows from APP_SECRET: it can be shown at every start, and nobody else can guess it. */
const accountOf = ({ current }: AppSecrets): DemoAccount => ({
  email,
  password: Buffer.from(hkdfSync('sha256', current, '', 'password of the demo account', 12)).toString('base64url'),
})

/** Creates the demo organization with sample data of the last 60 days, unless it exists. */
export async function ensureDemo(db: Db, secrets: AppSecrets, baseUrl: string): Promise<Demo> {
  const account = accountOf(secrets)
  const existing = await findDemo(db, { emailKey: email, name })
  // The account was dated back by the same number of days.
  if (existing) return { account, createdAt: new Date(+existing.createdAt + accountAgeDays * dayMs) }
  const { organizationId, id: userId } = await register(db, 'operator', { organizationName: name, ...account })
  const owner = { organizationId, userId }
  const endMs = Date.now()
  const tasks = new TaskPool({ processes: 1 })
  try {
    const audience = await addAudience(db, owner, endMs)
    const createdAt = new Date(endMs - accountAgeDays * dayMs)
    const picture = await addBrand(db, tasks, { organizationId, baseUrl, createdAt })
    const findBrand = (id: OrganizationId) => getBrandValues(db, id, baseUrl)
    const runner = new TemplateRunner({ tasks, cpuMs: templateCpuMs, findBrand })
    const flows = await addFlows(db, runner, owner, { picture, endMs })
    await ensurePartitions(db)
    await addEmails(db, runner, owner, { ...audience, ...flows, endMs })
    await addWebhook(db, webhookSecretBox(secrets), owner, new Date(endMs - flowAgeDays * dayMs))
  } finally {
    tasks.stop()
  }
  return { account, createdAt: new Date(endMs) }
}

/** Emails and broadcasts of the past, and a scheduled broadcast. */
async function addEmails(
  db: Db,
  runner: TemplateRunner,
  owner: Owner,
  { contacts, groups, flows, arrivals, loyalty, endMs }: Audience & DemoFlows & { endMs: number },
): Promise<void> {
  const { organizationId } = owner
  const segments = await addSegments(db, organizationId, new Date(endMs - segmentAgeDays * dayMs))
  const broadcasts = planBroadcasts({ contacts, groups, arrivals, loyalty, endMs })
  const plan = planEmails({ contacts, flows, broadcasts, days, messages: messagesWanted, rates, endMs })
  await addPastEmails(db, plan.messages, { organizationId, endMs })
  await datePastSuppressions(db.statement, organizationId)
  await addBroadcasts(db, owner, { plan, broadcasts, groups })
  await addScheduledBroadcast(db, runner, owner, { flow: flows[digestIndex]!, segments, groups, endMs })
}

type Owner = { organizationId: OrganizationId; userId: UserId }
type DemoFlows = { flows: PastFlow[]; arrivals: PastFlow; loyalty: PastFlow }

async function addFlows(
  db: Db,
  runner: TemplateRunner,
  { organizationId, userId }: Owner,
  { picture, endMs }: { picture: string; endMs: number },
): Promise<DemoFlows> {
  // Flows without a sender use MAIL_FROM, which is always allowed.
  const parts = { db, senders: { check: async () => {} }, runner }
  const rest = { htmlFormat: 'html', text: null, fromName: null, fromEmail: null, replyTo: null, utm: null } as const
  const add = async ({ flow, messageOf }: DemoFlow): Promise<PastFlow> => {
    const id = await createFlow(parts, organizationId, userId, { ...flow, ...rest, status: 'active' })
    const versionId = await findVersionId(db, organizationId, id)
    return { id, versionId: versionId!, kind: flow.kind, messageOf }
  }
  const flows: PastFlow[] = []
  for (const flow of demoFlows) flows.push(await add(flow))
  const { arrivals: arrivalsFlow, loyalty: loyaltyFlow } = broadcastFlows(picture)
  const [arrivals, loyalty] = [await add(arrivalsFlow), await add(loyaltyFlow)]
  const ids = [...flows, arrivals, loyalty].map(({ id }) => id)
  const draftId = await createDraftFlow(parts, organizationId, userId, { ...draftFlow(picture), ...rest })
  await db.begin(async (tx) => {
    await datePastFlows(tx, organizationId, ids, new Date(endMs - flowAgeDays * dayMs))
    await datePastFlows(tx, organizationId, [draftId], new Date(endMs - draftAgeDays * dayMs))
  })
  return { flows, arrivals, loyalty }
}

/**
 * Its log shows past deliveries. Its host does not exist, so new events reach nobody. It does not select `emailSent`:
 * the deliveries about a broadcast that is sent in the demo would all fail.
 */
async function addWebhook(db: Db, box: SecretBox, owner: Owner, createdAt: Date): Promise<void> {
  const parts = { db, box, allowPrivate: false }
  const eventTypes = eventNames.filter((each) => each !== 'emailSent')
  const input = { name: 'Shop', url: `${shopUrl}/webhooks/waxwing`, eventTypes }
  const { webhook, secret } = await createWebhook(parts, owner, input)
  await datePastWebhook(db.statement, owner.organizationId, webhook.id, createdAt)
  let position = 0
  await addPastDeliveries(
    db,
    { ...webhook, secret },
    { limit: deliveriesWanted, answersOf: ({ id }) => answersOf(id, position++) },
  )
}

/** Nearly all are delivered: every fortieth at the second attempt, and three never. */
function answersOf(eventId: string, position: number): PastAnswer[] {
  const durationMs = Math.round(30 + 400 * chanceOf(eventId, 'duration') ** 3)
  const fine = { statusCode: 200, durationMs, body: 'ok' }
  const busy = { statusCode: 503, durationMs, body: 'Service Unavailable' }
  if (position === 60 || position === 200) return [{ statusCode: 404, durationMs, body: 'Not Found' }]
  if (position === 120) return [busy, busy, busy, busy]
  return position % 40 === 20 ? [busy, fine] : [fine]
}

/** Deletes the demo organization with all of its data. Returns false if there is none. */
export async function removeDemo(db: Db, log: Log, bucket?: Bucket): Promise<boolean> {
  const demo = await findDemo(db, { emailKey: email, name })
  if (!demo) return false
  await removeOrganization(db, demo.organizationId)
  // A running service would do this within a minute; without one, it is done now.
  await eraseDeletedOrganizations({ db, log, bucket })
  return true
}
