import type { Db } from '../../src/platform/db/db.ts'
import { type FlowId, type OrganizationId, parseId } from '../../src/platform/values/ids.ts'
import type { Tenant } from './service.ts'

const insertAtOnce = 100_000

/** Produces a typical email of about 4 KB with three tracked links and a pixel. */
const orderMail = {
  name: 'Order shipped',
  kind: 'transactional',
  subject: 'Order {{ order_id }} is on its way',
  html: [
    '<html><body><h1>Thank you, {{ first_name | default: "friend" }}</h1>',
    ...Array.from(
      { length: 3 },
      (_, item) =>
        `<p>Item ${item} of order {{ order_id }}: ${'a fine thing that you will enjoy for years to come, '.repeat(6)}
        <a href="https://shop.example/orders/{{ order_id }}/items/${item}?utm_source=mail">look at it</a></p>`,
    ),
    '</body></html>',
  ].join('\n'),
}

/** The flow of an organization. */
export type OrganizationFlow = { organizationId: OrganizationId; id: FlowId; text: string }

export async function createFlow(tenant: Tenant, changes: object = {}): Promise<OrganizationFlow> {
  const { id } = await tenant.manage('POST', '/flows', { ...orderMail, ...changes })
  return { organizationId: tenant.id, id: parseId('flw', id)!, text: id }
}

export const addressOf = (index: number) => `person-${index}@example.com`

/** Creates subscribed contacts with the addresses of `addressOf`, starting at 1. */
export async function insertContacts(db: Db, organizationId: OrganizationId, count: number): Promise<void> {
  for (let from = 1; from <= count; from += insertAtOnce) {
    const to = Math.min(count, from + insertAtOnce - 1)
    await db.statement`
      insert into contacts (organization_id, id, email, email_key, first_name, subscription)
      select ${organizationId}, uuidv7(), address, address, 'Ada', 'subscribed'
      from generate_series(${from}::int, ${to}::int) as number
      cross join lateral (select 'person-' || number || '@example.com' as address) as made`
  }
  await db.statement.script('analyze contacts')
}

/** Creates a group with all contacts, the first of the organization. Returns its id. */
export async function createGroupOfAll(db: Db, tenant: Tenant): Promise<string> {
  const { id } = await tenant.manage('POST', '/groups', { name: 'All' })
  await db.statement`
    insert into group_members (organization_id, group_id, contact_id)
    select organization_id, (select id from groups where organization_id = ${tenant.id}), id
    from contacts
    where organization_id = ${tenant.id}`
  return id
}
