import type { Reader } from '../../platform/db/db.ts'
import { only } from '../../platform/db/rows.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

export type SendingQueue = { queued: number; waitingSince: Date | null; lastSentAt: Date | null }

/**
 * Returns the number of pending emails, counted up to a limit, the time of the oldest one, and when the last email was
 * sent. All parts use indexes.
 */
export const findSendingQueue = (db: Reader, organizationId: OrganizationId, countMax: number) =>
  only(db<SendingQueue>`
    select
      -- Emails that are scheduled for later are left out.
      (select least(count(*), ${countMax}) from lanes
        cross join lateral (
          select due_at, attempt from jobs
          where jobs.organization_id = ${organizationId} and jobs.kind = lanes.kind and jobs.lane = lanes.lane
          order by due_at limit ${countMax}
        ) as first
        where lanes.organization_id = ${organizationId} and lanes.kind = 'message.send'
          and (first.due_at <= now() or first.attempt > 0)) as queued,
      (select min(oldest.due_at) from lanes
        cross join lateral (
          select due_at from jobs
          where jobs.organization_id = ${organizationId} and jobs.kind = lanes.kind and jobs.lane = lanes.lane
          order by due_at limit 1
        ) as oldest
        where lanes.organization_id = ${organizationId} and lanes.kind = 'message.send') as waiting_since,
      (select occurred_at from events
        where organization_id = ${organizationId} and event_name = 'emailSent'
        order by occurred_at desc limit 1) as last_sent_at`)
