import { may, organizationIdOf } from '../accounts/accounts.ts'
import { findSegmentAndUsers } from '../audience/audience.ts'
import type { Db } from '../platform/db/db.ts'
import type { Server } from '../platform/http/server.ts'
import { Refusal } from '../platform/values/errors.ts'
import { findScheduledWith } from './protect-scheduled.sql.ts'

/** Provides `request.checkScheduled`. Call it before routes are registered. */
export function protectScheduled(api: Server, db: Db): void {
  api.decorateRequest('checkScheduled', async function (changed) {
    if (may(this, 'broadcasts:send')) return
    const organizationId = organizationIdOf(this)
    // A change of a segment also affects broadcasts to segments that name it.
    const used =
      'flowId' in changed ? changed : { segmentIds: await findSegmentAndUsers(db, organizationId, changed.segmentId) }
    const name = await findScheduledWith(db, organizationId, used)
    if (name !== undefined)
      throw new Refusal(
        'forbidden',
        `The scheduled broadcast “${name}” uses this. Only people who may start broadcasts can change it until the broadcast starts.`,
      )
  })
}
