import type { Tx } from '../db/db.ts'
import type { ContactId, EventId, OrganizationId } from '../values/ids.ts'
import { recordEvents } from './record.ts'

/** Records that a contact was unsubscribed in the app or through the API, not through a message. */
export async function recordApiUnsubscription(
  tx: Tx,
  { id, organizationId, contactId }: { id: EventId; organizationId: OrganizationId; contactId: ContactId },
): Promise<void> {
  await recordEvents(tx, [
    {
      id,
      organizationId,
      eventName: 'contactUnsubscribe',
      occurredAt: new Date(),
      messageId: null,
      flowId: null,
      contactId,
      machine: false,
      machineReason: null,
      data: { method: 'api' },
    },
  ])
}
