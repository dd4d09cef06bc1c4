import { insertPastBroadcast, type PastBroadcast, type PastRecipient } from '../broadcasts/past-broadcasts.ts'
import { scheduleNow } from '../broadcasts/schedule.ts'
import type { Db } from '../db/db.ts'
import { dayMs, hourMs } from '../values/durations.ts'
import { derivedId, type OrganizationId, toText, type UserId } from '../values/ids.ts'
import type { Audience, DemoGroup, DemoGroups, DemoSegments } from './audience.ts'
import { loyaltyVariants } from './content.ts'
import type { BroadcastPlan, EmailPlan, SentBroadcast } from './plan-emails.ts'
import type { PastFlow } from './planned-message.ts'

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

type Sent = {
  plan: EmailPlan
  broadcasts: BroadcastPlan[]
  groups: DemoGroups
  segments: DemoSegments
  digest: PastFlow
  endMs: number
}

/** Stores the broadcasts that were sent, and a scheduled one, which has no job and is never sent. */
export async function addBroadcasts(
  db: Db,
  { organizationId, userId }: { organizationId: OrganizationId; userId: UserId },
  { plan, broadcasts, groups, segments, digest, endMs }: Sent,
): Promise<void> {
  const named = [
    { name: 'New arrivals', group: groups.Newsletter },
    { name: 'Loyalty program launch', group: groups.Customers },
  ]
  const scheduledMs = daysFrom(endMs, 7)
  const past: PastBroadcast[] = broadcasts.map((broadcast, index) => {
    const sent = plan.broadcasts.get(broadcast.id)!
    return {
      id: broadcast.id,
      name: named[index]!.name,
      flowId: broadcast.flow.id,
      audience: { ...nobody, group_ids: [toText('grp', named[index]!.group.id)] },
      schedule: scheduleNow,
      createdBy: userId,
      createdAt: new Date(broadcast.atMs - hourMs),
      startsAt: new Date(broadcast.atMs),
      sent: {
        flowVersionId: broadcast.flow.versionId,
        finishedAt: new Date(sent.finishedMs),
        excluded: sent.excluded,
        recipients: sent.recipients.map(recipientOf),
        test: testOf(sent),
      },
    }
  })
  past.push({
    id: derivedId('brc', endMs, 'broadcast'),
    name: 'Next week’s digest',
    flowId: digest.id,
    audience: {
      ...nobody,
      segment_ids: [toText('seg', segments.active)],
      exclude_group_ids: [toText('grp', groups.Trial.id)],
    },
    schedule: { ...scheduleNow, at: new Date(scheduledMs).toISOString().slice(0, 16) },
    createdBy: userId,
    createdAt: new Date(endMs),
    startsAt: new Date(scheduledMs),
    sent: null,
  })
  await db.begin(async (tx) => {
    for (const broadcast of past) await insertPastBroadcast(tx, organizationId, broadcast)
  })
}

const nobody = { group_ids: [], segment_ids: [], exclude_group_ids: [], exclude_segment_ids: [] }

function testOf({ winner, decidedMs }: SentBroadcast) {
  if (winner === null || decidedMs === null) return null
  const variants = loyaltyVariants.map(({ openRate: _, ...variant }) => variant)
  return { variants, percent: sample.percent, winner, decidedAt: new Date(decidedMs) }
}

const recipientOf = ({ contact, variant, message, left }: SentBroadcast['recipients'][number]): PastRecipient => ({
  contactId: contact.id,
  status: message ? (message.bounce ? 'bounced' : 'sent') : left!,
  messageId: message?.id ?? null,
  variant,
})
