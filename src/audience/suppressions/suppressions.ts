import type { Db, Tx } from '../../platform/db/db.ts'
import type { Actor } from '../../platform/values/actor.ts'
import { type EmailAddress, parseEmail } from '../../platform/values/email.ts'
import { invalid, Refusal } from '../../platform/values/errors.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import { isStorable, unstorableProblem } from '../../platform/values/text.ts'
import type { SuppressionReason } from '../contacts/eligibility.ts'
import { recordChange } from '../contacts/history.ts'
import { lockAddresses } from '../contacts/locks.ts'
import { resubscribeByEmail, unsubscribeByEmail } from '../contacts/subscriptions.ts'
import { inTransaction } from '../contacts/transaction.ts'
import type { ListedAddress } from './address-list.ts'
import {
  deleteSuppressions,
  insertSuppressions,
  type NewSuppression,
  type Suppression,
  selectContactIds,
  selectSuppressionsOf,
} from './suppressions.sql.ts'

export type ImportedSuppression = { email: string; reason: SuppressionReason }

/**
 * Imports the suppressions of a file. They happened elsewhere and earlier, so no events are recorded. Returns the new
 * suppressions, and the contacts that were unsubscribed, with their previous subscription.
 */
export async function importSuppressions(tx: Tx, organizationId: OrganizationId, imported: ImportedSuppression[]) {
  const entries = imported.flatMap(({ email: text, reason }): NewSuppression[] => {
    const email = parseEmail(text)
    return email.ok ? [{ email: email.address, emailKey: email.key, reason, detail: 'Imported' }] : []
  })
  const added = await insertSuppressions(tx, organizationId, entries)
  const keys = entries.filter(({ reason }) => reason === 'unsubscribe').map(({ emailKey }) => emailKey)
  const unsubscribed = keys.length > 0 ? await unsubscribeByEmail(tx, organizationId, keys) : []
  return { added, unsubscribed }
}

/** Suppresses the addresses of contacts manually. Returns how many were not suppressed manually before. */
export async function suppressContacts(tx: Tx, organizationId: OrganizationId, ids: ContactId[]) {
  const contacts = await lockAddresses(tx, organizationId, ids)
  return (await suppressManually(tx, organizationId, contacts)).length
}

/** Returns the keys of the addresses that were not suppressed manually before. */
async function suppressManually(
  tx: Tx,
  organizationId: OrganizationId,
  addresses: EmailAddress[],
  detail = '',
): Promise<string[]> {
  const entries = addresses.map(({ email, emailKey }): NewSuppression => {
    return { email, emailKey, reason: 'manual', detail: detail.trim() || null }
  })
  const added = (await insertSuppressions(tx, organizationId, entries)).map(({ emailKey }) => emailKey)
  await record(tx, organizationId, added, { type: 'suppressed', reasons: ['manual'] })
  return added
}

/** Records a change in the histories of the contacts with these addresses. */
async function record(
  tx: Tx,
  organizationId: OrganizationId,
  emailKeys: string[],
  { type, reasons }: { type: 'suppressed' | 'unsuppressed'; reasons: SuppressionReason[] },
): Promise<void> {
  if (emailKeys.length === 0 || reasons.length === 0) return
  const ids = await selectContactIds(tx, organizationId, emailKeys)
  recordChange(tx, organizationId, ids, { type, details: { reasons } })
}

/** Suppresses an address manually. Has no effect if it is already suppressed manually. */
export async function addManualSuppression(
  db: Db,
  organizationId: OrganizationId,
  { address, detail }: { address: EmailAddress; detail?: string | undefined },
  actor: Actor,
): Promise<Suppression> {
  if (!isStorable(detail ?? '')) throw invalid({ path: 'detail', problem: unstorableProblem })
  return inTransaction(db.by(actor), async (tx) => {
    await suppressManually(tx, organizationId, [address], detail)
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
  const valid = entries.filter((entry) => entry.email !== undefined)
  const added = new Set(await inTransaction(db.by(actor), (tx) => suppressManually(tx, organizationId, valid, detail)))
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
export async function liftSuppression(db: Db, organizationId: OrganizationId, emailKey: string, actor: Actor) {
  await inTransaction(db.by(actor), async (tx) => {
    const lifted = await deleteSuppressions(tx, organizationId, emailKey)
    if (lifted.length === 0) throw notSuppressed()
    const reasons = lifted.filter((reason) => reason !== 'unsubscribe')
    await record(tx, organizationId, [emailKey], { type: 'unsuppressed', reasons })
    if (lifted.includes('unsubscribe')) await resubscribeByEmail(tx, organizationId, emailKey)
  })
}

export const notSuppressed = () => new Refusal('not_found', 'This address is not suppressed.')
