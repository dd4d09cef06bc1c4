import type { Reader, Tx } from '../../platform/db/db.ts'
import type { ContactChangeName, EventData, EventSource } from '../../platform/values/event-types.ts'
import { type ContactId, newId, type OrganizationId } from '../../platform/values/ids.ts'
import { fanOut, findChangeSubscriptions, type Subscription } from '../webhooks/fan-out.ts'
import { type ContactChangeEvent, findChangedContacts, insertContactChanges } from './contact-changes.sql.ts'

/** Contacts by what happened to them. Created contacts that are subscribed count as subscribed, too. */
export type ContactChanges = {
  created?: readonly ContactId[]
  subscribed?: readonly ContactId[]
  updated?: readonly { id: ContactId; fields: string[] }[]
}

/** The webhooks of an organization that select changes of contacts: usually none. */
export type ChangeWebhooks = readonly Subscription[]

export const findChangeWebhooks = (db: Reader, organizationId: OrganizationId): Promise<ChangeWebhooks> =>
  findChangeSubscriptions(db, [organizationId])

/**
 * Records changes of contacts as events, and one delivery per webhook that selects them. Changes that no webhook
 * selects are not recorded as events: an import would otherwise write one or two per row. The history of a contact is
 * written separately. Contacts that do not exist are skipped. `webhooks` are looked up if they are omitted.
 */
export async function recordContactChanges(
  tx: Tx,
  organizationId: OrganizationId,
  source: EventSource | null,
  changes: ContactChanges,
  webhooks?: ChangeWebhooks,
): Promise<void> {
  const { created = [], subscribed = [], updated = [] } = changes
  if (created.length + subscribed.length + updated.length === 0) return
  const subscriptions = webhooks ?? (await findChangeWebhooks(tx, organizationId))
  if (subscriptions.length === 0) return
  const ids = new Set([...created, ...subscribed, ...updated.map(({ id }) => id)])
  const contacts = new Map(
    (await findChangedContacts(tx, organizationId, [...ids])).map((contact) => [contact.id, contact]),
  )
  const selected = new Set<string>(subscriptions.flatMap(({ eventTypes }) => eventTypes))
  const events: ContactChangeEvent[] = []
  const add = (eventName: ContactChangeName, id: ContactId, data: EventData) => {
    const contact = contacts.get(id)
    if (!contact || !selected.has(eventName)) return
    events.push({ organizationId, id: newId('evt'), eventName, contact, data: { source, ...data } })
  }
  for (const id of created) {
    const subscription = contacts.get(id)?.subscription
    if (!subscription) continue
    add('contactCreated', id, { subscription })
    if (subscription === 'subscribed') add('contactSubscribed', id, { subscription })
  }
  for (const { id, fields } of updated) add('contactUpdated', id, { fields })
  for (const id of subscribed) add('contactSubscribed', id, { subscription: 'subscribed' })
  if (events.length === 0) return
  insertContactChanges(tx, organizationId, new Date(), events)
  // Deliveries follow from the names alone: `all_events` does not include changes of contacts.
  fanOut(
    tx,
    events,
    subscriptions.map((webhook) => ({ ...webhook, allEvents: false })),
  )
}
