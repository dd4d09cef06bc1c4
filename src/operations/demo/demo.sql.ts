import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { BroadcastId, OrganizationId, UserId, WebhookId } from '../../platform/values/ids.ts'

/** Returns the organization that belongs to this owner and still has this name, or undefined. */
export const findDemo = (db: Reader, { email, organizationName }: { email: string; organizationName: string }) =>
  first(db<{ organizationId: OrganizationId; userId: UserId; createdAt: Date }>`
    select organizations.id as organization_id, users.id as user_id, organizations.created_at
    from users
    join organizations on organizations.id = users.organization_id
    where users.email_key = ${email} and organizations.name = ${organizationName} and organizations.deleted_at is null`)

export const findWebhooks = (db: Reader, organizationId: OrganizationId) =>
  db<{ id: WebhookId }>`select id from webhooks where organization_id = ${organizationId}`

export const findDraftBroadcasts = (db: Reader, organizationId: OrganizationId) =>
  db<{ id: BroadcastId }>`select id from broadcasts where organization_id = ${organizationId} and status = 'draft'`
