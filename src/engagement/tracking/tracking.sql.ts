import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ContactId, EmailId, FlowId, MessageId, OrganizationId } from '../../platform/values/ids.ts'

/** Resolves when the database responds. */
export const askDatabase = (db: Reader) => db`select 1`

/** Returns false also if the organization does not exist. */
export async function findKeepsAddresses(db: Reader, organizationId: OrganizationId): Promise<boolean> {
  const [row] = await db<{ keepAddresses: boolean }>`
    select keep_addresses from organizations where id = ${organizationId}`
  return row?.keepAddresses ?? false
}

export type Recipient = {
  organizationName: string
  /** Null, like the subscription, if the contact was erased. */
  email: string | null
  subscription: 'subscribed' | 'not_subscribed' | 'unsubscribed' | null
}

export const findRecipient = (db: Reader, organizationId: OrganizationId, contactId: ContactId) =>
  first(db<Recipient>`
    select organizations.name as organization_name, contacts.email, contacts.subscription
    from organizations
    left join contacts on contacts.organization_id = organizations.id and contacts.id = ${contactId}
    where organizations.id = ${organizationId}`)

export type SentMessage = {
  organizationId: OrganizationId
  id: MessageId
  flowId: FlowId
  contactId: ContactId
  email: string
  isTest: boolean
}

export async function findMessages(
  db: Reader,
  keys: { organizationId: OrganizationId; messageId: MessageId }[],
): Promise<SentMessage[]> {
  if (keys.length === 0) return []
  return db<SentMessage>`
    select messages.organization_id, messages.id, flow_id, contact_id, email, is_test
    from unnest(
      ${keys.map((key) => key.organizationId)}::uuid[],
      ${keys.map((key) => key.messageId)}::uuid[]
    ) as key (organization_id, id)
    join messages on messages.organization_id = key.organization_id and messages.id = key.id`
}

/** There is no index for this rare query: it searches the newest messages only. */
const queueIdLookBack = 10_000

export async function findMessageByQueueId(
  db: Reader,
  organizationId: OrganizationId,
  queueIds: string[],
): Promise<SentMessage | undefined> {
  if (queueIds.length === 0) return undefined
  const [row] = await db<SentMessage>`
    select organization_id, id, flow_id, contact_id, email, is_test
    from (
      select organization_id, id, flow_id, contact_id, email, is_test, queue_id
      from messages
      where organization_id = ${organizationId}
      order by id desc
      limit ${queueIdLookBack}
    ) as newest
    where queue_id = any(${queueIds}::text[])
    order by id desc
    limit 1`
  return row
}

/**
 * Finds messages by id alone, as providers name them. Looks into each organization, since the index starts with it. If
 * an organization was imported with ids that another one has, the message of the older organization is the last one.
 */
export async function findMessagesOfAnyone(db: Reader, messageIds: MessageId[]): Promise<SentMessage[]> {
  if (messageIds.length === 0) return []
  // Keeps the planner from scanning all messages. A distributed database rejects it.
  const limit = db.isDistributed ? sql`` : sql`limit ${messageIds.length}`
  return db<SentMessage>`
    select message.organization_id, message.id, message.flow_id, message.contact_id, message.email, message.is_test
    from organizations
    cross join lateral (
      select organization_id, id, flow_id, contact_id, email, is_test
      from messages
      where messages.organization_id = organizations.id and messages.id = any(${messageIds}::uuid[])
      ${limit}
    ) as message
    order by organizations.created_at desc`
}

export type MessageOfEmail = { organizationId: OrganizationId; id: MessageId; emailId: EmailId; email: string }

/**
 * Finds the messages of emails to these recipients, in lower case, by the id of the email alone, as `findMessagesOfAnyone`
 * does.
 */
export const findMessagesOfEmails = (db: Reader, emailIds: readonly EmailId[], recipients: readonly string[]) =>
  db<MessageOfEmail>`
    select message.organization_id, message.id, message.email_id, message.email
    from organizations
    cross join lateral (
      select organization_id, id, content_id as email_id, lower(email) as email
      from messages
      where messages.organization_id = organizations.id and messages.content_id = any(${emailIds}::uuid[])
        and lower(email) = any(${recipients}::text[])
    ) as message`
