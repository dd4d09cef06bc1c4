import type { Db, Tx } from '../db/db.ts'
import { type EmailAddress, parseEmail } from '../values/email.ts'
import { invalid, Refusal } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import { isStorable, unstorableProblem } from '../values/text.ts'
import { subscribeByEmail, unsubscribeByEmail } from './contacts.sql.ts'
import { insertHistoryByEmail } from './history.sql.ts'
import type { Actor } from './history.ts'
import {
  deleteSuppressions,
  insertSuppressions,
  type Suppression,
  type SuppressionReason,
  selectSuppressionsOf,
} from './suppressions.sql.ts'
import { inTransaction } from './transaction.ts'

export type ImportedSuppression = { email: string; reason: SuppressionReason }

/** Imports the suppressions of a file. They happened elsewhere and earlier, so no events are recorded. */
export async function importSuppressions(
  tx: Tx,
  organizationId: OrganizationId,
  imported: ImportedSuppression[],
  actor: Actor,
): Promise<void> {
  const entries = imported.flatMap(({ email: text, reason }) => {
    const email = parseEmail(text)
    const entry = { organizationId, reason, detail: 'Imported', messageId: null }
    return email.ok ? [{ ...entry, email: email.address, emailKey: email.key }] : []
  })
  await insertSuppressions(tx, entries)
  const unsubscribed = entries.filter(({ reason }) => reason === 'unsubscribe').map(({ emailKey }) => emailKey)
  if (unsubscribed.length > 0) await unsubscribeByEmail(tx, organizationId, unsubscribed, actor)
}

/** Suppresses an address manually. Has no effect if it is already suppressed manually. */
export async function addManualSuppression(
  db: Db,
  organizationId: OrganizationId,
  { address, detail }: { address: EmailAddress; detail?: string | undefined },
  actor: Actor,
): Promise<Suppression> {
  if (!isStorable(detail ?? '')) throw invalid({ path: 'detail', problem: unstorableProblem })
  return inTransaction(db, async (tx) => {
    const before = await selectSuppressionsOf(tx, organizationId, address.emailKey)
    await insertSuppressions(tx, [
      {
        organizationId,
        ...address,
        reason: 'manual',
        detail: detail?.trim() || null,
        messageId: null,
      },
    ])
    if (!before.some(({ reason }) => reason === 'manual'))
      await insertHistoryByEmail(tx, organizationId, address.emailKey, {
        type: 'suppressed',
        actor,
        details: { reasons: ['manual'] },
      })
    const entries = await selectSuppressionsOf(tx, organizationId, address.emailKey)
    return entries.find(({ reason }) => reason === 'manual')!
  })
}

/**
 * Removes the suppressions of an address for all reasons. An unsubscribed contact becomes subscribed. Throws `Refusal`
 * if the address is not suppressed.
 */
export async function liftSuppression(
  db: Db,
  organizationId: OrganizationId,
  emailKey: string,
  actor: Actor,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const lifted = await deleteSuppressions(tx, organizationId, emailKey)
    if (lifted.length === 0) throw notSuppressed()
    const reasons = lifted.filter((reason) => reason !== 'unsubscribe')
    if (reasons.length > 0)
      await insertHistoryByEmail(tx, organizationId, emailKey, { type: 'unsuppressed', actor, details: { reasons } })
    if (lifted.includes('unsubscribe')) await subscribeByEmail(tx, organizationId, emailKey, actor)
  })
}

export const notSuppressed = () => new Refusal('not_found', 'This address is not suppressed.')
