import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** How many of the newest messages are looked at. */
const newestMax = 500

export type RealEmail = { email: string; status: 'sent' | 'bounced' | 'failed'; reason: string | null }

/**
 * Returns the newest email that a mail server accepted, or else the newest that one rejected. Undefined if none of the newest
 * messages was passed to a mail server.
 */
export const findRealEmail = (db: Reader, organizationId: OrganizationId, notReal: { reply: string; domain: string }) =>
  first(db<RealEmail>`
    select email, status, reason
    from (
      select id, email, status, reason, relay_reply from messages
      where organization_id = ${organizationId}
      order by id desc
      limit ${newestMax}
    ) as newest
    where status in ('sent', 'bounced', 'failed') and relay_reply <> ${notReal.reply}
      and right(email, length(${notReal.domain}::text)) <> ${notReal.domain}
    order by status = 'sent' desc, id desc
    limit 1`)
