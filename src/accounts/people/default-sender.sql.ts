import type { Reader, Tx } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

/** Who emails are from. */
export type DefaultSender = { name: string | null; email: string }

/** Returns undefined if the organization has chosen none. */
export const findDefaultSender = (db: Reader, id: OrganizationId) =>
  first(db<DefaultSender>`
    select default_sender_name as name, default_sender_email as email
    from organizations
    where id = ${id} and default_sender_email is not null`)

/** Chooses hello@ the domain, with the name of the organization, unless another sender was chosen. */
export const proposeDefaultSender = (tx: Tx, id: OrganizationId, domain: string) =>
  tx`
    update organizations
    set default_sender_name = name, default_sender_email = 'hello@' || ${domain}::text
    where id = ${id} and default_sender_email is null`

/** Of a domain that is deleted. */
export const removeDefaultSender = (tx: Tx, id: OrganizationId, domain: string) =>
  tx`
    update organizations
    set default_sender_name = null, default_sender_email = null
    where id = ${id} and split_part(default_sender_email, '@', 2) = ${domain}`
