import type { Db, Reader, Tx } from '../db/db.ts'
import { parseEmail } from '../email.ts'
import { invalid, Refusal } from '../errors.ts'
import type { MessageId, OrganizationId } from '../ids.ts'
import { isStorable, unstorableProblem } from '../text.ts'
import { subscribeByEmail } from './contacts.sql.ts'
import {
  deleteSuppressions,
  insertSuppressions,
  type Suppression,
  type SuppressionReason,
  selectSuppressionsOf,
} from './suppressions.sql.ts'
import { inTransaction } from './transaction.ts'

export type { SuppressionReason }

/** Reasons that stop every mail; 'unsubscribe' stops marketing only. */
const stopsAll: readonly SuppressionReason[] = ['hard_bounce', 'complaint', 'manual']

export type NewSuppression = {
  organizationId: OrganizationId
  /** In any spelling. */
  email: string
  reason: SuppressionReason
  detail: string | null
  messageId: MessageId | null
}

/** Keeps addresses from getting mail, whether or not a contact has them. What is suppressed already stays as it is. */
export async function suppress(tx: Tx, entries: NewSuppression[]): Promise<void> {
  if (entries.length === 0) return
  await insertSuppressions(
    tx,
    entries.map((entry) => ({ ...entry, emailKey: keyOf(entry.email) })),
  )
}

/** Why an address gets no mail of this kind; undefined when it does. */
export async function findSuppression(
  db: Reader,
  organizationId: OrganizationId,
  email: string,
  kind: 'transactional' | 'marketing',
): Promise<SuppressionReason | undefined> {
  const reasons = (await selectSuppressionsOf(db, organizationId, keyOf(email))).map(({ reason }) => reason)
  return (
    stopsAll.find((reason) => reasons.includes(reason)) ?? (kind === 'marketing' ? reasons.find(Boolean) : undefined)
  )
}

const keyOf = (email: string): string => {
  const parsed = parseEmail(email)
  return parsed.ok ? parsed.key : email.toLowerCase()
}

/** By hand. Asking twice is no fault. */
export async function suppressByHand(
  db: Db,
  organizationId: OrganizationId,
  input: { email: string; detail?: string | undefined },
): Promise<Suppression> {
  const email = parseEmail(input.email)
  if (!email.ok) throw invalid({ path: 'email', problem: email.problem })
  if (!isStorable(input.detail ?? '')) throw invalid({ path: 'detail', problem: unstorableProblem })
  return inTransaction(db, async (tx) => {
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
    const entries = await selectSuppressionsOf(tx, organizationId, email.key)
    return entries.find(({ reason }) => reason === 'manual')!
  })
}

/** For all reasons at once. A contact who had unsubscribed is subscribed again. */
export async function liftSuppression(db: Db, organizationId: OrganizationId, emailText: string): Promise<void> {
  const email = parseEmail(emailText)
  await inTransaction(db, async (tx) => {
    const lifted = email.ok ? await deleteSuppressions(tx, organizationId, email.key) : []
    if (!email.ok || lifted.length === 0) throw new Refusal('not_found', 'This address is not suppressed.')
    if (lifted.includes('unsubscribe')) await subscribeByEmail(tx, organizationId, email.key)
  })
}
