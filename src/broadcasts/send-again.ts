import type { Actor } from '../platform/values/actor.ts'
import { invalid } from '../platform/values/errors.ts'
import { type BroadcastId, type OrganizationId, toText } from '../platform/values/ids.ts'
import { withoutDeleted } from './audience/resolve-audience.ts'
import { type Broadcast, createBroadcast, type DraftParts, freeName, getBroadcast } from './lifecycle.ts'
import { findSubject } from './results/flow-of-broadcast.sql.ts'
import { scheduleNow } from './schedule.ts'
import { notIn } from './status.ts'

/**
 * Creates a draft for the recipients of a sent broadcast who have not opened it, with another subject. Throws `Refusal` if
 * it has not been sent, or the subject is the same.
 */
export async function draftSendAgain(
  parts: DraftParts,
  { organizationId, id }: { organizationId: OrganizationId; id: BroadcastId },
  actor: Actor,
  subject: string,
): Promise<Broadcast> {
  const { db } = parts
  const original = await getBroadcast(db, organizationId, id)
  if (original.status !== 'sent') throw notIn(original, 'It can be sent again after it was sent to everybody.')
  if ((await subjectsOf(parts, original)).some((each) => each.trim() === subject.trim()))
    throw invalid({ path: 'subject', problem: 'must differ from the subject of the first email' })
  const audience = await withoutDeleted(db, organizationId, original.audience)
  return createBroadcast(parts, organizationId, actor, {
    ...original,
    name: await freeName(db, organizationId, `${original.name}, sent again`),
    subject: subject.trim(),
    // Who was excluded from the first email may have joined the excluded groups since.
    audience: {
      ...audience,
      all_subscribed: false,
      group_ids: [],
      segment_ids: [],
      not_opened_broadcast_id: toText('brc', id),
    },
    schedule: { ...scheduleNow, time_zone: original.schedule.time_zone },
    variants: [],
  })
}

/** The subjects that recipients got, as templates. */
async function subjectsOf({ db }: DraftParts, broadcast: Broadcast): Promise<string[]> {
  const { organizationId, flowVersionId, subject, variants } = broadcast
  const flowSubject = flowVersionId ? await findSubject(db, organizationId, flowVersionId) : undefined
  return [subject ?? flowSubject, ...variants.map((variant) => variant.subject)].flatMap((each) => each ?? [])
}
