import type { Tx } from '../db/db.ts'
import type { ContactId, GroupId, ImportId, OrganizationId, UserId } from '../values/ids.ts'
import type { Actor } from './history.ts'
import { insertProblems } from './imports.sql.ts'

/** A subscribed contact that was added in the past, for sample data. */
export type PastContact = {
  id: ContactId
  /** In lower case. */
  email: string
  firstName: string
  lastName: string
  attributes: object
  createdAt: Date
  actor: Actor
  groupIds: GroupId[]
}

export async function insertPastContacts(
  tx: Tx,
  organizationId: OrganizationId,
  contacts: readonly PastContact[],
): Promise<void> {
  await tx`
    insert into contacts (organization_id, id, email, email_key, first_name, last_name, attributes, subscription,
      created_at, updated_at, created_by_type, created_by_id, created_subscribed)
    select ${organizationId}, id, email, email, first_name, last_name, attributes::jsonb, 'subscribed', created_at,
      created_at, actor_type, actor_id, true
    from unnest(
      ${contacts.map(({ id }) => id)}::uuid[], ${contacts.map(({ email }) => email)}::text[],
      ${contacts.map(({ firstName }) => firstName)}::text[], ${contacts.map(({ lastName }) => lastName)}::text[],
      ${contacts.map(({ attributes }) => JSON.stringify(attributes))}::text[],
      ${contacts.map(({ createdAt }) => createdAt)}::timestamptz[], ${contacts.map(({ actor }) => actor.type)}::text[],
      ${contacts.map(({ actor }) => actor.id)}::uuid[]
    ) as past (id, email, first_name, last_name, attributes, created_at, actor_type, actor_id)`
  const members = contacts.flatMap((contact) => contact.groupIds.map((groupId) => ({ ...contact, groupId })))
  await tx`
    insert into group_members (organization_id, group_id, contact_id, added_at, added_by_type, added_by_id)
    select ${organizationId}, group_id, contact_id, added_at, actor_type, actor_id
    from unnest(
      ${members.map(({ groupId }) => groupId)}::uuid[], ${members.map(({ id }) => id)}::uuid[],
      ${members.map(({ createdAt }) => createdAt)}::timestamptz[], ${members.map(({ actor }) => actor.type)}::text[],
      ${members.map(({ actor }) => actor.id)}::uuid[]
    ) as past (group_id, contact_id, added_at, actor_type, actor_id)`
}

/** An import that was finished in the past, for sample data. It created `created` contacts and rejected the other rows. */
export type PastImport = {
  id: ImportId
  groupId: GroupId
  fileName: string
  createdBy: UserId
  finishedAt: Date
  header: string[]
  created: number
  rejected: { line: number; email: string; problem: string; cells: string[] }[]
}

const bytesPerRow = 48

export async function insertPastImport(tx: Tx, organizationId: OrganizationId, past: PastImport): Promise<void> {
  const rows = past.created + past.rejected.length
  const bytes = (rows + 1) * bytesPerRow
  const progress = {
    offset: bytes,
    line: rows + 1,
    rows,
    created: past.created,
    updated: 0,
    rejected: past.rejected.length,
    layout: {
      delimiter: ',',
      columns: { width: past.header.length, email: 0, firstName: 1, lastName: 2, status: null, attributes: [] },
      note: null,
      header: past.header,
    },
  }
  await tx`
    insert into imports (organization_id, id, group_id, subscription, file_name, status, bytes_total, progress, created_at,
      finished_at, created_by)
    values (${organizationId}, ${past.id}, ${past.groupId}, 'subscribed', ${past.fileName}, 'done', ${bytes},
      ${JSON.stringify(progress)}, ${past.finishedAt}, ${past.finishedAt}, ${past.createdBy})`
  await insertProblems(tx, organizationId, past.id, past.rejected)
}
