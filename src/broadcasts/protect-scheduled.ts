import { may, organizationIdOf } from '../accounts/accounts.ts'
import { findSegmentAndUsers } from '../audience/audience.ts'
import type { Db } from '../platform/db/db.ts'
import type { UsedByBroadcasts } from '../platform/http/policies.ts'
import type { Server } from '../platform/http/server.ts'
import { Refusal } from '../platform/values/errors.ts'
import type { OrganizationId } from '../platform/values/ids.ts'
import { findScheduledWith } from './protect-scheduled.sql.ts'

/** Provides `request.checkScheduled`. Call it before routes are registered. */
export function protectScheduled(api: Server, db: Db): void {
  api.decorateRequest('checkScheduled', async function (changed) {
    if (may(this, 'broadcasts:send')) return
    const name = await findScheduled(db, organizationIdOf(this), changed)
    if (name !== undefined)
      throw new Refusal(
        'forbidden',
        `The scheduled broadcast “${name}” uses this. Only people who may start broadcasts can change it until the broadcast starts.`,
      )
  })
}

/** A change of a segment also affects broadcasts to segments that name it. */
async function findScheduled(
  db: Db,
  organizationId: OrganizationId,
  used: UsedByBroadcasts,
): Promise<string | undefined> {
  if ('flowId' in used) return findScheduledWith(db, organizationId, used)
  const segmentIds = await findSegmentAndUsers(db, organizationId, used.segmentId)
  return findScheduledWith(db, organizationId, { segmentIds })
}
