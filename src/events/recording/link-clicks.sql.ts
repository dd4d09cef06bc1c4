import type { Reader } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import {
  type ContactId,
  type EventId,
  leastId,
  type MessageId,
  type OrganizationId,
} from '../../platform/values/ids.ts'
import { timeOfId } from './id-time.ts'

/** Messages and clicks are given ids by processes whose clocks may differ by this much. */
const idSlackMs = 60_000

/** The first human click on a link of a message, before and after a change of its events. Null if there is none. */
export type FirstOnLink = { messageId: MessageId; link: string; beforeAt: Date | null; afterAt: Date | null }

type Changed = {
  organizationId: OrganizationId
  messages: readonly { messageId: MessageId; contactId: ContactId }[]
  ids: readonly EventId[]
}

/** Human clicks were added. Must be called after `first_occurrences` of their messages are locked. */
export const findFirstsAfterClicks = (db: Reader, changed: Changed): Promise<FirstOnLink[]> =>
  findFirsts(db, changed, sql`not machine and id <> all (${changed.ids}::uuid[])`)

/** Clicks that had been counted as human were labelled as made by a machine. */
export const findFirstsAfterLabels = (db: Reader, changed: Changed): Promise<FirstOnLink[]> =>
  findFirsts(db, changed, sql`not machine or id = any (${changed.ids}::uuid[])`)

/** The first human click on a message. `linkId` is null if its link is not known without a look at the events. */
export type FirstLink = { messageId: MessageId; occurredAt: Date | number; linkId: string | null }

export const findFirstLinks = (
  db: Reader,
  keys: readonly { organizationId: OrganizationId; messageId: MessageId }[],
): Promise<FirstLink[]> => db<FirstLink>`
  select key.subject_id as message_id, occurred_at, replace(link_id::text, '-', '') as link_id
  from unnest(
    ${keys.map((key) => key.organizationId)}::uuid[],
    ${keys.map((key) => key.messageId)}::uuid[]
  ) as key (organization_id, subject_id)
  join first_occurrences on first_occurrences.organization_id = key.organization_id
    and first_occurrences.subject_id = key.subject_id
  where event_name = 'emailClick'`

async function findFirsts(db: Reader, { organizationId, messages }: Changed, wasHuman: Sql): Promise<FirstOnLink[]> {
  // Keeps the query out of the partitions of the months before the messages, and of the contact's earlier events.
  const fromMs = Math.min(...messages.map(({ messageId }) => timeOfId(messageId))) - idSlackMs
  return db<FirstOnLink>`
    select message.id as message_id, click.link, click.before_at, click.after_at
    from unnest(
      ${messages.map(({ messageId }) => messageId)}::uuid[],
      ${messages.map(({ contactId }) => contactId)}::uuid[]
    ) as message (id, contact_id)
    cross join lateral (
      select link, min(occurred_at) filter (where ${wasHuman}) as before_at,
        min(occurred_at) filter (where not machine) as after_at
      from events
      where organization_id = ${organizationId} and contact_id = message.contact_id and message_id = message.id
        and occurred_at >= ${new Date(fromMs)}
        -- Written so that no index on event_name can be used, as in bursts.sql.ts.
        and (event_name = 'emailClick') is true and link is not null and id >= ${leastId('evt', fromMs)}
      group by link
    ) as click
    where click.before_at is distinct from click.after_at`
}
