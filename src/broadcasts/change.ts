import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../platform/db/db.ts'
import { invalid, Refusal } from '../platform/values/errors.ts'
import type { BroadcastId, OrganizationId } from '../platform/values/ids.ts'
import { type Broadcast, type BroadcastContent, updateContent, updateStatus } from './broadcasts.sql.ts'
import { wakeStep } from './ledger/lanes.ts'
import { checkContent, type DraftParts, getBroadcast, getLocked, readyToSend } from './lifecycle.ts'
import { checkPlannedTime, plannedStart } from './schedule.ts'
import { emptyAudience } from './shapes.ts'
import { notIn } from './status.ts'
import { checkSubjects } from './variants.ts'

/** Who changes a broadcast, and whether they may start it and send service announcements. */
export type Editor = { mayStart: boolean; mayAnnounce: boolean }

/**
 * Changes a draft or a scheduled broadcast. Throws `Refusal` if it has been started. A scheduled one whose time comes is
 * started under the same lock, so it is sent either with this change or the change is rejected. Throws `Refusal` as well
 * if `baseRevision` is outdated.
 */
export async function changeBroadcast(
  { db, runner }: DraftParts,
  { organizationId, id }: { organizationId: OrganizationId; id: BroadcastId },
  { baseRevision, ...changes }: Partial<BroadcastContent> & { baseRevision?: number | undefined },
  editor: Editor,
): Promise<Broadcast> {
  // Those that stay were checked when they were saved.
  await checkSubjects(runner, organizationId, changes)
  return db.begin(async (tx) => {
    const current = await getLocked(tx, organizationId, id)
    const isScheduled = current.status === 'scheduled'
    if (current.status !== 'draft' && !isScheduled)
      throw notIn(current, 'It could be changed until it was started. Duplicate it instead.')
    if (baseRevision !== undefined && baseRevision !== current.revision)
      throw new Refusal(
        'conflict',
        'This broadcast was changed in the meantime. Reload it and apply your change again.',
      )
    const changed = { ...current, ...changes }
    if (isScheduled) checkEditor(current, changed, editor)
    const content = await checkContent(tx, organizationId, changed)
    if (isScheduled) await readyToSend(tx, changed)
    await updateContent(tx, organizationId, id, content)
    if (isScheduled && !isDeepStrictEqual(content.schedule, current.schedule))
      await moveStart(tx, current, content.schedule)
    return getBroadcast(tx, organizationId, id)
  })
}

/** Throws `Refusal` if the caller may not change a scheduled broadcast in this way. */
function checkEditor(current: Broadcast, changed: Broadcast, { mayStart, mayAnnounce }: Editor): void {
  if (!mayStart)
    throw new Refusal(
      'forbidden',
      'This broadcast is scheduled. Only people who may start broadcasts can change it until it starts.',
    )
  if (!current.serviceAnnouncement && !changed.serviceAnnouncement) return
  if (!mayAnnounce) throw new Refusal('forbidden', 'Only owners can change a scheduled service announcement.')
  const isSame =
    current.serviceAnnouncement === changed.serviceAnnouncement &&
    isDeepStrictEqual({ ...emptyAudience, ...current.audience }, { ...emptyAudience, ...changed.audience })
  // An owner has confirmed how many people who unsubscribed get it.
  if (!isSame)
    throw new Refusal(
      'conflict',
      'Who gets a scheduled service announcement cannot be changed. Cancel it, and schedule a copy of it.',
    )
}

/** Moves the planned start of a scheduled broadcast. */
async function moveStart(tx: Tx, current: Broadcast, schedule: Broadcast['schedule']): Promise<void> {
  const startsAt = plannedStart(schedule, current.now)
  if (!startsAt)
    throw invalid({
      path: 'schedule.at',
      problem: 'is required while the broadcast is scheduled. Send it now with the action send-now',
    })
  checkPlannedTime(schedule, current.now)
  await updateStatus(tx, current, { status: 'scheduled', startsAt })
  await wakeStep(tx, current)
}
