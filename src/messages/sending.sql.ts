import type { Reader } from '../db/db.ts'
import type { OrganizationId } from '../ids.ts'

export type SendingFigures = { queued: number; lastSentAt: Date | null }

/** How many mails wait, counted up to a limit, and when the last one went out. Both by an index, whatever the number. */
export async function findSendingFigures(
  db: Reader,
  organizationId: OrganizationId,
  countMax: number,
): Promise<SendingFigures> {
  const [row] = await db<SendingFigures>`
    select
      (select count(*) from (
        select from jobs where organization_id = ${organizationId} and kind = 'message.send' limit ${countMax}
      ) waiting) as queued,
      (select occurred_at from events
        where organization_id = ${organizationId} and event_name = 'emailSent'
        order by occurred_at desc limit 1) as last_sent_at`
  return row!
}
