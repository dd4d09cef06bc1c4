import type { Variant } from '../../src/broadcasts/lifecycle.ts'
import { scheduleNow } from '../../src/broadcasts/schedule.ts'
import { emptyAudience } from '../../src/broadcasts/shapes.ts'
import type { Db } from '../../src/platform/db/db.ts'
import { type BroadcastId, derivedId, newId, toText, type UserId } from '../../src/platform/values/ids.ts'
import { addPastEmails, chanceOf, type PastEmail } from './past-emails.ts'
import type { Tenant } from './service.ts'
import { createFlow } from './tenant-data.ts'

const emailsPerSecond = 100
const startedBeforeMs = 3 * 86_400_000
const bounceRate = 0.01
const openRate = 0.4
const samplePercent = 20
const variants: Variant[] = [
  { subject: null, flow_version: null, share: 50 },
  { subject: 'Twenty new things', flow_version: null, share: 50 },
]
const linkCount = 20
const plannedAtOnce = 20_000
/** Statements have to end within 30 seconds. */
const rowsAtOnce = 100_000

export const linkOf = (index: number) => `https://shop.example/item-${index}`

export type PastBroadcast = { id: BroadcastId; text: string; flowText: string; contactText: string }

/**
 * Stores a broadcast that was sent three days ago to the first contacts of the organization, with an A/B test, and with what
 * its recipients did, recorded as it is when they do it.
 */
export async function fillBroadcast(db: Db, tenant: Tenant, recipients: number): Promise<PastBroadcast> {
  const { id: flowId, text: flowText } = await createFlow(tenant, { kind: 'marketing' })
  const [version] = await db<{ id: PastEmail['flow']['versionId']; userId: UserId }>`
    select flow_versions.id, (select id from users where organization_id = ${tenant.id} limit 1) as user_id
    from flow_versions where organization_id = ${tenant.id} and flow_id = ${flowId}`
  const flow: PastEmail['flow'] = { id: flowId, versionId: version!.id, kind: 'marketing' }
  const startMs = Date.now() - startedBeforeMs
  const id = newId('brc')
  let lastContact: PastEmail['contact'] | undefined
  for (let sent = 0; sent < recipients; ) {
    const contacts = await db<PastEmail['contact']>`
      select id, email from contacts
      where organization_id = ${tenant.id} and id > ${lastContact?.id ?? newNil}
      order by id limit ${Math.min(plannedAtOnce, recipients - sent)}`
    const messages = contacts.map((contact, index) => messageTo(contact, { id, flow, startMs, n: sent + index }))
    await addPastEmails(db, messages, { organizationId: tenant.id, endMs: Date.now() })
    sent += contacts.length
    lastContact = contacts.at(-1)
  }
  const startedAt = new Date(startMs)
  await db.statement`
    insert into broadcasts (organization_id, id, name, status, flow_id, flow_version_id, audience, schedule, variants,
      test_percent, decides_at, winner, decided_at, starts_at, recipients, excluded, created_by, created_at, updated_at,
      started_at, finished_at)
    values (${tenant.id}, ${id}, ${`News for ${recipients}`}, 'sent', ${flowId}, ${flow.versionId},
      ${JSON.stringify({ ...emptyAudience, all_subscribed: true })}::jsonb, ${JSON.stringify(scheduleNow)}::jsonb,
      ${JSON.stringify(variants)}::jsonb, ${samplePercent}, ${startedAt}, 1, ${startedAt}, ${startedAt}, ${recipients}, 0,
      ${version!.userId}, ${startedAt}, ${startedAt}, ${startedAt},
      ${new Date(startMs + (recipients / emailsPerSecond) * 1000)})`
  await fillLedger(db, tenant, id, recipients)
  return { id, text: toText('brc', id), flowText, contactText: toText('con', lastContact!.id) }
}

const newNil = '00000000-0000-0000-0000-000000000000'

function messageTo(
  contact: PastEmail['contact'],
  { id, flow, startMs, n }: { id: BroadcastId; flow: PastEmail['flow']; startMs: number; n: number },
): PastEmail {
  const atMs = Math.floor(startMs + (n * 1000) / emailsPerSecond)
  const messageId = derivedId('msg', atMs, id, contact.id)
  const isBounced = chanceOf(messageId, 'bounce') < bounceRate
  const content = { subject: 'News', context: {}, url: linkOf(n % linkCount) }
  return { id: messageId, flow, contact, atMs, isBounced, ...content, openRate, broadcastId: id }
}

async function fillLedger(db: Db, { id: organizationId }: Tenant, id: BroadcastId, recipients: number): Promise<void> {
  for (let from = 0; from < recipients; from += rowsAtOnce)
    await db.statement`
      insert into broadcast_recipients (organization_id, broadcast_id, contact_id, status, message_id, variant)
      select organization_id, broadcast_id, contact_id, status, id,
        case when number % 100 < ${samplePercent} then number % ${variants.length} end
      from (
        select *, row_number() over (order by id) as number from messages
        where organization_id = ${organizationId} and broadcast_id = ${id}
        order by id offset ${from} limit ${rowsAtOnce}
      ) as message`
  await db.statement`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    select organization_id, broadcast_id, status, count(*) from broadcast_recipients
    where organization_id = ${organizationId} and broadcast_id = ${id}
    group by 1, 2, 3`
}
