import type { Tx } from '../../platform/db/db.ts'
import type { ContactId, EventId, OrganizationId } from '../../platform/values/ids.ts'
import { recordEvents } from './record.ts'

type Unsubscription = { id: EventId; contactId: ContactId }

/** Records that a contact was unsubscribed in the app or through the API, not through a message. */
export const recordApiUnsubscription = (
  tx: Tx,
  { organizationId, ...unsubscription }: Unsubscription & { organizationId: OrganizationId },
): Promise<void> => recordApiUnsubscriptions(tx, organizationId, [unsubscription])

/** Does so for many contacts. */
export async function recordApiUnsubscriptions(
  tx: Tx,
  organizationId: OrganizationId,
  unsubscriptions: readonly Unsubscription[],
): Promise<void> {
  const occurredAt = new Date()
  await recordEvents(
    tx,
    unsubscriptions.map(({ id, contactId }) => ({
      id,
      organizationId,
      eventName: 'contactUnsubscribe',
      occurredAt,
      messageId: null,
      flowId: null,
      contactId,
      machine: false,
      machineReason: null,
      data: { method: 'api' },
    })),
  )
}
