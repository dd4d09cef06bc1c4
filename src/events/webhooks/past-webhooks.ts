import type { Writer } from '../../platform/db/db.ts'
import type { OrganizationId, WebhookId } from '../../platform/values/ids.ts'

/** Dates a webhook back, for sample data. */
export const datePastWebhook = (db: Writer, organizationId: OrganizationId, id: WebhookId, createdAt: Date) =>
  db`
    update webhooks set created_at = ${createdAt} where organization_id = ${organizationId} and id = ${id}`
