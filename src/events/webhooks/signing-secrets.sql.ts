import type { Reader } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { OrganizationId, WebhookId } from '../../platform/values/ids.ts'

export type SealedSecrets = { secret: Buffer; previousSecret: Buffer | null }

/** Includes the previous secret only during a rotation. */
export const sealedSecrets = sql`webhooks.secret,
  case when webhooks.previous_secret_until > now() then webhooks.previous_secret end as previous_secret`

export const findSecrets = (db: Reader, organizationId: OrganizationId, id: WebhookId) =>
  first(db<SealedSecrets>`
    select ${sealedSecrets} from webhooks where organization_id = ${organizationId} and id = ${id}`)
