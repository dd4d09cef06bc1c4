import type { Db, Tx } from '../db/db.ts'
import { parseEmail } from '../values/email.ts'
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

export type Objection = { email: string; reason: SuppressionReason }

/** What a file says against mail to people. It happened elsewhere and before, so it makes no events. */
export async function takeObjections(
  tx: Tx,
  organizationId: OrganizationId,
  objections: Objection[],
  actor: Actor,
): Promise<void> {
  const entries = objections.flatMap(({ email: text, reason }) => {
    const email = parseEmail(text)
    const entry = { organizationId, reason, detail: 'Imported', messageId: null }
    return email.ok ? [{ ...entry, email: email.address, emailKey: email.key }] : []
  })
  await insertSuppressions(tx, entries)
  const left = entries.filter(({ reason }) => reason === 'unsubscribe').map(({ emailKey }) => emailKey)
  if (left.length > 0) await unsubscribeByEmail(tx, organizationId, left, actor)
}

/** By hand. Asking twice is no fault. */
export async function suppressByHand(
  db: Db,
  organizationId: OrganizationId,
  input: { email: string; detail?: string | undefined },
  actor: Actor,
): Promise<Suppression> {
  const email = parseEmail(input.email)
  if (!email.ok) throw invalid({ path: 'email', problem: email.problem })
  if (!isStorable(input.detail ?? '')) throw invalid({ path: 'detail', problem: unstorableProblem })
  return inTransaction(db, async (tx) => {
    const before = await selectSuppressionsOf(tx, organizationId, email.key)
    await insertSuppressions(tx, [
      {
        organizationId,
        email: email.address,
        emailKey: email.key,
        reason: 'manual',
        detail: input.detail?.trim() || null,
        messageId: null,
      },
    ])
    if (!before.some(({ reason }) => reason === 'manual'))
      await insertHistoryByEmail(tx, organizationId, email.key, {
        type: 'suppressed',
        actor,
        details: { reasons: ['manual'] },
      })
    const entries = await selectSuppressionsOf(tx, organizationId, email.key)
    return entries.find(({ reason }) => reason === 'manual')!
  })
}

/** For all reasons at once. A contact who had unsubscribed is subscribed again. */
export async function liftSuppression(
  db: Db,
  organizationId: OrganizationId,
  emailText: string,
  actor: Actor,
): Promise<void> {
  const email = parseEmail(emailText)
  await inTransaction(db, async (tx) => {
    const lifted = email.ok ? await deleteSuppressions(tx, organizationId, email.key) : []
    if (!email.ok || lifted.length === 0) throw new Refusal('not_found', 'This address is not suppressed.')
    const reasons = lifted.filter((reason) => reason !== 'unsubscribe')
    if (reasons.length > 0)
      await insertHistoryByEmail(tx, organizationId, email.key, { type: 'unsuppressed', actor, details: { reasons } })
    if (lifted.includes('unsubscribe')) await subscribeByEmail(tx, organizationId, email.key, actor)
  })
}
