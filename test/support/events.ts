import { recordEvents } from '../../src/events/recording/record.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { EventName } from '../../src/platform/values/event-types.ts'
import { newId, parseId } from '../../src/platform/values/ids.ts'

/** Records events of a new contact. */
export async function happen(db: Db, organization: string, eventName: EventName, count = 1): Promise<void> {
  const organizationId = parseId('org', organization)!
  const contactId = newId('con')
  const emailKey = `${contactId}@example.com`
  await db.statement`insert into contacts (organization_id, id, email, email_key, first_name, subscription)
    values (${organizationId}, ${contactId}, ${emailKey}, ${emailKey}, 'Ada', 'subscribed')`
  const event = {
    organizationId,
    eventName,
    occurredAt: new Date(),
    messageId: newId('msg'),
    flowId: newId('flw'),
    contactId,
    machine: false,
    machineReason: null,
    data: { url: 'https://shop.example/' },
  }
  const events = Array.from({ length: count }, () => ({ ...event, id: newId('evt') }))
  await db.begin((tx) => recordEvents(tx, events))
}
