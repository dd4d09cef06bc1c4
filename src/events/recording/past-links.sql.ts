import type { Reader, Writer } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { EventId, OrganizationId } from '../../platform/values/ids.ts'

export type PastClick = { id: EventId; occurredAt: Date; url: string }

/** Returns clicks without a link, oldest first, after the one that is given. */
export const selectClicksWithoutLink = (
  db: Reader,
  organizationId: OrganizationId,
  { after, limit }: { after: PastClick | undefined; limit: number },
) =>
  db<PastClick>`
    select id, occurred_at, data ->> 'url' as url
    from events
    where organization_id = ${organizationId} and event_name = 'emailClick' and link is null and data ->> 'url' <> ''
      and ${after ? sql`(occurred_at, id) > (${after.occurredAt}, ${after.id})` : sql`true`}
    order by occurred_at, id
    limit ${limit}`

export const updateLinks = (
  db: Writer,
  organizationId: OrganizationId,
  links: readonly { id: EventId; link: string }[],
) =>
  db`
    update events
    set link = clicks.link
    from unnest(${links.map(({ id }) => id)}::uuid[], ${links.map(({ link }) => link)}::text[]) as clicks (id, link)
    where events.organization_id = ${organizationId} and events.id = clicks.id and events.link is null`
