import type { Tx } from '../db/db.ts'
import { type ContactId, newId, type OrganizationId } from '../ids.ts'
import { recordEvents } from './record.ts'

/** Somebody was unsubscribed by hand or by a program, not through a message. */
export async function recordApiUnsubscription(
  tx: Tx,
  { organizationId, contactId, method }: { organizationId: OrganizationId; contactId: ContactId; method: 'api' },
): Promise<void> {
  await recordEvents(tx, [
    {
      id: newId('evt'),
      organizationId,
      eventName: 'contactUnsubscribe',
      occurredAt: new Date(),
      messageId: null,
      flowId: null,
      contactId,
      machine: false,
      machineReason: null,
      data: { method },
    },
  ])
}
