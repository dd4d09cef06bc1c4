import {
  contentOf,
  createBroadcast,
  emptyAudience,
  insertPastBroadcast,
  type PastBroadcast,
  type PastRecipient,
  scheduleBroadcast,
  scheduleNow,
} from '../../broadcasts/broadcasts.ts'
import type { TemplateRunner } from '../../content/content.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import { derivedId, type OrganizationId, toText, type UserId } from '../../platform/values/ids.ts'
import type { Audience, DemoGroup, DemoGroups, DemoSegments } from './audience.ts'
import { loyaltyVariants } from './content.ts'
import type { BroadcastPlan, EmailPlan, SentBroadcast } from './plan-emails.ts'
import type { PastFlow } from './planned-message.ts'
import { bounces } from './reactions.ts'

/** The demo is usually opened again before then. */
const scheduledAfterDays = 14
const sample = { percent: 50, decideAfterMs: 4 * hourMs }

/** 09:00 UTC of another day. */
const daysFrom = (endMs: number, days: number) => Math.floor((endMs + days * dayMs) / dayMs) * dayMs + 9 * hourMs

/** One broadcast to a group, and one with two subjects. */
export function planBroadcasts({
  contacts,
  groups,
  arrivals,
  loyalty,
  endMs,
}: Audience & { arrivals: PastFlow; loyalty: PastFlow; endMs: number }): BroadcastPlan[] {
  const membersOf = ({ members }: DemoGroup) => contacts.filter(({ id }) => members.has(id))
  const planAt = (atMs: number) => ({ atMs, id: derivedId('brc', atMs - hourMs, 'broadcast') })
  return [
    { ...planAt(daysFrom(endMs, -9)), flow: arrivals, audience: membersOf(groups.Newsletter) },
    {
      ...planAt(daysFrom(endMs, -3)),
      flow: loyalty,
      audience: membersOf(groups.Customers),
      test: { ...sample, variants: loyaltyVariants },
    },
  ]
}

type Owner = { organizationId: OrganizationId; userId: UserId }

/** Stores the broadcasts that were sent. */
export async function addBroadcasts(
  db: Db,
  { organizationId, userId }: Owner,
  { plan, broadcasts, groups }: { plan: EmailPlan; broadcasts: BroadcastPlan[]; groups: DemoGroups },
): Promise<void> {
  const named = [
    { name: 'New arrivals', group: groups.Newsletter },
    { name: 'Loyalty program launch', group: groups.Customers },
  ]
  const past = broadcasts.map((broadcast, index): PastBroadcast => {
    const sent = plan.broadcasts.get(broadcast.id)!
    return {
      id: broadcast.id,
      name: named[index]!.name,
      flowId: broadcast.flow.id,
      flowVersionId: broadcast.flow.versionId,
      audience: { ...emptyAudience, group_ids: [toText('grp', named[index]!.group.id)] },
      schedule: scheduleNow,
      createdBy: userId,
      createdAt: new Date(broadcast.atMs - hourMs),
      startedAt: new Date(broadcast.atMs),
      finishedAt: new Date(sent.finishedMs),
      excluded: sent.excluded,
      recipients: sent.recipients.map(recipientOf),
      test: testOf(sent),
    }
  })
  await db.begin(async (tx) => {
    for (const broadcast of past) await insertPastBroadcast(tx, organizationId, broadcast)
  })
}

/** Schedules a broadcast. It is sent at its time if the service runs then, and its emails stay in the built-in inbox. */
export async function addScheduledBroadcast(
  db: Db,
  runner: TemplateRunner,
  { organizationId, userId }: Owner,
  { flow, segments, groups, endMs }: { flow: PastFlow; segments: DemoSegments; groups: DemoGroups; endMs: number },
): Promise<void> {
  const content = contentOf(
    {
      name: 'Digest for active readers',
      flow_id: toText('flw', flow.id),
      subject: 'What you may have missed',
      audience: {
        segment_ids: [toText('seg', segments.active)],
        exclude_group_ids: [toText('grp', groups.Trial.id)],
      },
      utm: { source: 'newsletter', medium: 'email', campaign: 'digest' },
      schedule: { at: new Date(daysFrom(endMs, scheduledAfterDays)).toISOString().slice(0, 16) },
    },
    'UTC',
  )
  const { id } = await createBroadcast({ db, runner }, organizationId, userId, content)
  const read: BoundedRead = (organization, work) => db.begin((tx) => work(tx, organization))
  const confirmation = { recipients: undefined, unsubscribed: undefined, mayAnnounce: false }
  // The sender of the demo is that of the installation.
  const senders = { check: async () => {} }
  await scheduleBroadcast({ db, read, senders }, { organizationId, id }, confirmation)
}

function testOf({ winner, decidedMs }: SentBroadcast) {
  if (winner === null || decidedMs === null) return null
  const variants = loyaltyVariants.map(({ openRate: _, ...variant }) => variant)
  return { variants, percent: sample.percent, winner, decidedAt: new Date(decidedMs) }
}

const recipientOf = ({ contact, variant, message, left }: SentBroadcast['recipients'][number]): PastRecipient => ({
  contactId: contact.id,
  status: message ? (message.bounce ? 'bounced' : 'sent') : left === 'unsubscribed' ? left : 'suppressed',
  reason: message ? message.bounce && bounces[message.bounce].reason : left!,
  messageId: message?.id ?? null,
  variant,
})
