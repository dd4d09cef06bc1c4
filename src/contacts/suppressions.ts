import type { Db, Tx } from '../db/db.ts'
import { recordContactChanges } from '../events/contact-changes.ts'
import { type EmailAddress, parseEmail } from '../values/email.ts'
import { invalid, Refusal } from '../values/errors.ts'
import type { OrganizationId } from '../values/ids.ts'
import { isStorable, unstorableProblem } from '../values/text.ts'
import { subscribeByEmail, unsubscribeByEmail } from './contacts.sql.ts'
import { insertHistory, insertHistoryByEmail, insertHistoryByEmails } from './history.sql.ts'
import { type Actor, sourceOf } from './history.ts'
import type { NewImportChange } from './import-changes.sql.ts'
import type { ListedAddress } from './suppression-list.ts'
import {
  deleteSuppressions,
  insertSuppressions,
  type Suppression,
  type SuppressionReason,
  selectSuppressionsOf,
} from './suppressions.sql.ts'
import { inTransaction } from './transaction.ts'

export type ImportedSuppression = { email: string; reason: SuppressionReason }

/**
 * Imports the suppressions of a file. They happened elsewhere and earlier, so no events are recorded. Returns the changes,
 * for the undo.
 */
export async function importSuppressions(
  tx: Tx,
  organizationId: OrganizationId,
  imported: ImportedSuppression[],
  actor: Actor,
): Promise<NewImportChange[]> {
  const entries = imported.flatMap(({ email: text, reason }) => {
    const email = parseEmail(text)
    const entry = { organizationId, reason, detail: 'Imported', messageId: null }
    return email.ok ? [{ ...entry, email: email.address, emailKey: email.key }] : []
  })
  const added = await insertSuppressions(tx, entries)
  const keys = entries.filter(({ reason }) => reason === 'unsubscribe').map(({ emailKey }) => emailKey)
  const unsubscribed = keys.length > 0 ? await unsubscribeByEmail(tx, organizationId, keys, actor) : []
  return [
    ...unsubscribed.map(({ id, previous }): NewImportChange => {
      return { contactId: id, change: { subscription: [previous, 'unsubscribed'] } }
    }),
    // After the contacts: they are undone first, since only a contact without unsubscription is restored.
    ...added.map(({ emailKey, reason }): NewImportChange => {
      return { contactId: null, change: { email_key: emailKey, reason } }
    }),
  ]
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
  const fields = { organizationId, reason: 'manual', detail: detail?.trim() || null, messageId: null } as const
  const valid = entries.flatMap((entry) =>
    entry.email === undefined ? [] : [{ ...fields, email: entry.email, emailKey: entry.emailKey }],
  )
  const added = await inTransaction(db, async (tx) => {
    const keys = valid.length > 0 ? (await insertSuppressions(tx, valid)).map(({ emailKey }) => emailKey) : []
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
    const id = lifted.includes('unsubscribe') ? await subscribeByEmail(tx, organizationId, emailKey) : undefined
    if (!id) return
    insertHistory(tx, organizationId, id, { type: 'subscribed', actor })
    await recordContactChanges(tx, organizationId, sourceOf(actor), { subscribed: [id] })
  })
}

export const notSuppressed = () => new Refusal('not_found', 'This address is not suppressed.')
