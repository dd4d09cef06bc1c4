import type { Db } from '../../src/db/db.ts'
import { sql } from '../../src/db/sql.ts'
import type { EventName } from '../../src/values/event-types.ts'
import { newId, parseId } from '../../src/values/ids.ts'
import { fanOut } from '../../src/webhooks/fan-out.ts'

/** Records events of one contact as the service does, with their deliveries. */
export async function happen(db: Db, organization: string, eventName: EventName, count = 1): Promise<void> {
  const organizationId = parseId('org', organization)!
  const contactId = newId('con')
  const emailKey = `${contactId}@example.com`
  await db.statement`insert into contacts (organization_id, id, email, email_key, first_name, subscription)
    values (${organizationId}, ${contactId}, ${emailKey}, ${emailKey}, 'Ada', 'subscribed')`
  const ids = Array.from({ length: count }, () => newId('evt'))
  await db.statement.run(sql`
    with recorded as (
      insert into events (organization_id, id, event_name, occurred_at, message_id, flow_id, contact_id, data,
        contact_email, contact_first_name)
      select ${organizationId}, id, ${eventName}, now(), ${newId('msg')}, ${newId('flw')}, ${contactId},
        '{"url":"https://shop.example/"}', ${emailKey}, 'Ada'
      from unnest(${ids}::uuid[]) as id
      returning organization_id, id, event_name
    ), ${fanOut}
    select`)
}
