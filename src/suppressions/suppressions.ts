import type { SuppressionReason } from '../contacts/eligibility.ts'
import { type Actor, insertHistoryByEmail, insertHistoryByEmails, insertHistoryRows } from '../contacts/history.ts'
import { lockAddresses } from '../contacts/locks.ts'
import { resubscribeByEmail, unsubscribeByEmail } from '../contacts/subscriptions.ts'
import { inTransaction } from '../contacts/transaction.ts'
import type { Db, Tx } from '../db/db.ts'
import { type EmailAddress, parseEmail } from '../values/email.ts'
import { invalid, Refusal } from '../values/errors.ts'
import type { ContactId, OrganizationId } from '../values/ids.ts'
import { isStorable, unstorableProblem } from '../values/text.ts'
import type { ListedAddress } from './address-list.ts'
import {
  deleteSuppressions,
  insertSuppressions,
  type NewSuppression,
  type Suppression,
  selectSuppressionsOf,
} from './suppressions.sql.ts'

export type ImportedSuppression = { email: string; reason: SuppressionReason }

/**
 * Imports the suppressions of a file. They happened elsewhere and earlier, so no events are recorded. Returns the new
 * suppressions, and the contacts that were unsubscribed, with their previous subscription.
 */
export async function importSuppressions(
  tx: Tx,
  organizationId: OrganizationId,
  imported: ImportedSuppression[],
  actor: Actor,
) {
  const entries = imported.flatMap(({ email: text, reason }): NewSuppression[] => {
    const email = parseEmail(text)
    return email.ok ? [{ email: email.address, emailKey: email.key, reason, detail: 'Imported' }] : []
  })
  const added = await insertSuppressions(tx, organizationId, entries)
  const keys = entries.filter(({ reason }) => reason === 'unsubscribe').map(({ emailKey }) => emailKey)
  const unsubscribed = keys.length > 0 ? await unsubscribeByEmail(tx, organizationId, keys, actor) : []
  return { added, unsubscribed }
}

/** Suppresses the addresses of contacts manually. Returns how many were not suppressed manually before. */
export async function suppressContacts(
  tx: Tx,
  organizationId: OrganizationId,
  ids: ContactId[],
  actor: Actor,
): Promise<number> {
  const contacts = await lockAddresses(tx, organizationId, ids)
  const added = await insertSuppressions(
    tx,
    organizationId,
    contacts.map((contact) => manual(contact)),
  )
  const keys = new Set(added.map(({ emailKey }) => emailKey))
  await insertHistoryRows(
    tx,
    organizationId,
    contacts
      .filter(({ emailKey }) => keys.has(emailKey))
      .map(({ id }) => ({ contactId: id, type: 'suppressed', actor, details: { reasons: ['manual'] } })),
  )
  return added.length
}

const manual = ({ email, emailKey }: EmailAddress, detail = ''): NewSuppression => ({
  email,
  emailKey,
  reason: 'manual',
  detail: detail.trim() || null,
})

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
    await insertSuppressions(tx, organizationId, [manual(address, detail)])
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

export type ListResult = {
  line: number
  text: string
  email: string | null
  status: 'added' | 'already_suppressed' | 'rejected'
  problem: string | null
}

/** Suppresses the valid addresses of a list manually. Returns a result per entry. */
export async function suppressListed(
  db: Db,
  organizationId: OrganizationId,
  { entries, detail }: { entries: ListedAddress[]; detail?: string | undefined },
  actor: Actor,
): Promise<ListResult[]> {
  if (!isStorable(detail ?? '')) throw invalid({ path: 'detail', problem: unstorableProblem })
  const valid = entries.flatMap((entry) => (entry.email === undefined ? [] : [manual(entry, detail)]))
  const added = await inTransaction(db, async (tx) => {
    const keys =
      valid.length > 0 ? (await insertSuppressions(tx, organizationId, valid)).map(({ emailKey }) => emailKey) : []
    if (keys.length > 0)
      insertHistoryByEmails(tx, organizationId, keys, { type: 'suppressed', actor, details: { reasons: ['manual'] } })
    return new Set(keys)
  })
  return entries.map((entry) => {
    const { line, text } = entry
    if (entry.email === undefined) return { line, text, email: null, status: 'rejected', problem: entry.problem }
    // An address that occurs twice was added by its first entry.
    const status = added.delete(entry.emailKey) ? 'added' : 'already_suppressed'
    return { line, text, email: entry.email, status, problem: null }
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
    if (lifted.includes('unsubscribe')) await resubscribeByEmail(tx, organizationId, emailKey, actor)
  })
}

export const notSuppressed = () => new Refusal('not_found', 'This address is not suppressed.')
