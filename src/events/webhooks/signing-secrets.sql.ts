import type { Reader, Writer } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import { leastUuid, type OrganizationId, type WebhookId } from '../../platform/values/ids.ts'

export type SealedSecrets = { secret: Buffer; previousSecret: Buffer | null }
export type WebhookKey = { organizationId: OrganizationId; id: WebhookId }

/** Includes the previous secret only during a rotation. */
export const sealedSecrets = sql`webhooks.secret,
  case when webhooks.previous_secret_until > now() then webhooks.previous_secret end as previous_secret`

export const findSecrets = (db: Reader, organizationId: OrganizationId, id: WebhookId) =>
  first(db<SealedSecrets>`
    select ${sealedSecrets} from webhooks where organization_id = ${organizationId} and id = ${id}`)

/** Returns the secrets of the next webhooks of all organizations, in the order of their keys. */
export const selectSecretsAfter = (db: Reader, after: WebhookKey | undefined, limit: number) =>
  db<WebhookKey & SealedSecrets>`
    select organization_id, id, secret, previous_secret from webhooks
    where (organization_id, id) > (${after?.organizationId ?? leastUuid}::uuid, ${after?.id ?? leastUuid}::uuid)
    order by organization_id, id
    limit ${limit}`

/** Has no effect if the secret was rotated since. */
export const replaceSecrets = (db: Writer, before: WebhookKey & SealedSecrets, after: SealedSecrets) =>
  db`
    update webhooks
    set secret = ${after.secret}, previous_secret = ${after.previousSecret}
    where organization_id = ${before.organizationId} and id = ${before.id} and secret = ${before.secret}`
