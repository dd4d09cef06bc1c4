import { recordContactChanges } from '../../events/events.ts'
import type { BoundedWork } from '../../platform/db/bounded-work.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { retrying } from '../../platform/db/retrying.ts'
import { dropLane } from '../../platform/queue/queue.ts'
import { turnWorker } from '../../platform/queue/turn-worker.ts'
import type { WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { ContactId, OrganizationId } from '../../platform/values/ids.ts'
import type { ContactBefore } from '../contacts/fields.ts'
import { insertHistory, sourceOf, storedActor } from '../contacts/history.ts'
import { triesMax } from '../contacts/transaction.ts'
import { deleteImportChanges, type ImportChange, selectLastChanges } from './import-changes.sql.ts'
import type { Import, Undo } from './imports.sql.ts'
import {
  type ContactNow,
  deleteCreated,
  deleteImported,
  deleteJoined,
  failUndo,
  findUndoing,
  lockChanged,
  lockCreated,
  lockUndo,
  type Restored,
  restoreContacts,
  updateUndo,
} from './undo.sql.ts'
import { undoKind } from './undo.ts'

/** Contacts per transaction. */
const batchMax = 1_000
/** Undos in progress at once in this process. They share the connections of `BoundedWork`. */
const inFlightMax = 16

export type UndoParts = {
  db: Db
  work: BoundedWork
  /** Removes the personal data of deleted contacts from events and deliveries. */
  forgetContacts: (tx: Tx, organizationId: OrganizationId, ids: readonly ContactId[]) => Promise<void>
}

/** Undoes imports. */
export function undoWorker(parts: UndoParts): WorkerSpec<Import> {
  const { db } = parts
  return turnWorker({
    db,
    kind: undoKind,
    inFlightMax,
    load: (claims) => findUndoing(db, claims),
    run: async (record, until) => {
      let undo: Undo | undefined = record.undo!
      while (undo && undo.status !== 'done' && Date.now() < until) undo = await undoStep(parts, record, undo)
      return undo?.status === 'done'
    },
    giveUp: ({ organizationId, id }) =>
      db.begin(async (tx) => {
        await failUndo(tx, organizationId, id)
        await dropLane(tx, organizationId, undoKind, id)
      }),
  })
}

/**
 * Undoes one batch and records the progress in the same transaction. Returns undefined if another worker has continued
 * the undo.
 */
async function undoStep(parts: UndoParts, record: Import, before: Undo): Promise<Undo | undefined> {
  const { organizationId, id } = record
  const step = async (tx: Tx): Promise<Undo | undefined> => {
    const undo = await lockUndo(tx, organizationId, id, before.step)
    if (!undo) return undefined
    const next = await phases[undo.phase](tx, parts, record, { ...undo, status: 'running', step: undo.step + 1 })
    updateUndo(tx, organizationId, id, next)
    if (next.status === 'done') await dropLane(tx, organizationId, undoKind, id)
    return next
  }
  const actor = storedActor(before.actorType, before.actorId)
  return retrying(triesMax, () => parts.work(organizationId, step, { actor }))
}

type Phase = (tx: Tx, parts: UndoParts, record: Import, undo: Undo) => Promise<Undo>

const phases: Record<Undo['phase'], Phase> = {
  created: removeCreated,
  changed: restoreChanged,
  joined: removeJoined,
}

async function removeCreated(tx: Tx, { forgetContacts }: UndoParts, record: Import, undo: Undo): Promise<Undo> {
  const { organizationId, id: importId, createdAt: startedAt, finishedAt } = record
  const span = { organizationId, importId, startedAt, finishedAt: finishedAt! }
  const contacts = await lockCreated(tx, span, undo.after as ContactId | null, batchMax)
  const ids = contacts.filter(({ isUntouched }) => isUntouched).map(({ id }) => id)
  if (ids.length > 0) {
    deleteCreated(tx, organizationId, ids)
    await forgetContacts(tx, organizationId, ids)
  }
  const isOver = contacts.length < batchMax
  return {
    ...undo,
    phase: isOver ? 'changed' : 'created',
    after: isOver ? null : contacts.at(-1)!.id,
    removed: undo.removed + ids.length,
    kept: undo.kept + contacts.length - ids.length,
  }
}

async function restoreChanged(tx: Tx, _parts: UndoParts, record: Import, undo: Undo): Promise<Undo> {
  const { organizationId, id: importId } = record
  const changes = await selectLastChanges(tx, organizationId, importId, batchMax)
  const suppressions = changes.flatMap((change) => (change.contactId === null ? [change.change] : []))
  if (suppressions.length > 0) await deleteImported(tx, organizationId, suppressions)
  const ids = [...new Set(changes.flatMap(({ contactId }) => contactId ?? []))]
  const contacts = ids.length > 0 ? await lockChanged(tx, organizationId, ids) : []
  const outcomes = contacts.map((contact) => restoredOf(contact, changesOf(contact.id, changes)))
  const restored = outcomes.filter(({ fields }) => fields.length > 0)
  if (restored.length > 0) {
    restoreContacts(
      tx,
      organizationId,
      restored.map(({ contact }) => contact),
    )
    await recordRestored(tx, organizationId, restored)
  }
  deleteImportChanges(
    tx,
    organizationId,
    importId,
    changes.map(({ id }) => id),
  )
  const isOver = changes.length < batchMax
  return {
    ...undo,
    phase: isOver ? 'joined' : 'changed',
    restored: undo.restored + restored.length,
    kept: undo.kept + outcomes.filter(({ isWhole }) => !isWhole).length,
  }
}

const changesOf = (id: ContactId, changes: readonly ImportChange[]): ContactBefore[] =>
  changes.flatMap((change) => (change.contactId === id ? [change.change] : []))

type Outcome = { contact: Restored; previous: ContactNow; fields: string[]; isWhole: boolean }

/** Goes back through the changes, latest first. A value that was changed since the import stays. */
function restoredOf(previous: ContactNow, changes: readonly ContactBefore[]): Outcome {
  const { id, firstName, lastName, subscription } = previous
  const contact: Restored = { id, firstName, lastName, subscription, removed: [], restored: {} }
  const attributes = new Map(Object.entries(previous.attributes))
  const fields = new Set<string>()
  let isWhole = true
  const restore = (field: string, isSame: boolean, set: () => void) => {
    if (!isSame) {
      isWhole = false
      return
    }
    set()
    fields.add(field)
  }
  for (const change of changes) {
    const { first_name: first, last_name: last, subscription: status } = change
    if (first)
      restore('first_name', contact.firstName === first[1], () => {
        contact.firstName = first[0]
      })
    if (last)
      restore('last_name', contact.lastName === last[1], () => {
        contact.lastName = last[0]
      })
    // Someone who unsubscribed since, or before, is never subscribed.
    const mayRestore = status && contact.subscription === status[1] && !previous.hasUnsubscribed
    if (status)
      restore('subscription', mayRestore === true, () => {
        contact.subscription = status[0]
      })
    for (const [name, [next, ...before]] of Object.entries(change.attributes ?? {}))
      restore('attributes', attributes.get(name) === next, () => {
        if (before.length > 0) attributes.set(name, before[0])
        else attributes.delete(name)
      })
  }
  for (const name of Object.keys(previous.attributes)) if (!attributes.has(name)) contact.removed.push(name)
  for (const [name, value] of attributes) if (value !== previous.attributes[name]) contact.restored[name] = value
  return { contact, previous, fields: [...fields], isWhole }
}

/** The history of each contact, and the events for webhooks. */
async function recordRestored(tx: Tx, organizationId: OrganizationId, outcomes: readonly Outcome[]) {
  const edited = outcomes.flatMap(({ contact: { id }, fields }) => {
    const others = fields.filter((field) => field !== 'subscription')
    return others.length > 0 ? [{ id, fields: others }] : []
  })
  const changed = outcomes.filter(({ contact, previous }) => contact.subscription !== previous.subscription)
  const idsOf = (isSubscribed: boolean) =>
    changed
      .filter(({ contact }) => (contact.subscription === 'subscribed') === isSubscribed)
      .map(({ contact }) => contact.id)
  insertHistory(tx, organizationId, [
    ...edited.map(({ id, fields }) => ({ contactId: id, type: 'edited' as const, details: { fields } })),
    ...idsOf(true).map((contactId) => ({ contactId, type: 'subscribed' as const })),
    ...idsOf(false).map((contactId) => ({ contactId, type: 'unsubscribed' as const })),
  ])
  await recordContactChanges(tx, organizationId, sourceOf(tx), { updated: edited, subscribed: idsOf(true) })
}

async function removeJoined(tx: Tx, _parts: UndoParts, record: Import, undo: Undo): Promise<Undo> {
  const { organizationId, id, groupId } = record
  const left = groupId ? await deleteJoined(tx, organizationId, groupId, id, batchMax) : []
  const details = groupId ? { group_id: groupId } : {}
  insertHistory(
    tx,
    organizationId,
    left.flatMap(({ contactId, addedAt: at }) => [
      { contactId, type: 'group_added' as const, actor: { type: 'import' as const, id }, details, at },
      { contactId, type: 'group_removed' as const, details },
    ]),
  )
  if (left.length === batchMax) return undo
  return { ...undo, status: 'done', finishedAt: new Date().toISOString() }
}
