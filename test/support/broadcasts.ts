import { type NewEvent, recordEvents } from '../../src/events/recording/record.ts'
import {
  type ContactId,
  type FlowId,
  type MessageId,
  newId,
  type OrganizationId,
  parseId,
} from '../../src/platform/values/ids.ts'
import { create as createResource } from './resources.ts'
import { newCustomer } from './service.ts'
import { callUrl, type TestApp } from './test-app.ts'
import { until } from './until.ts'

const news = {
  name: 'Newsletter',
  kind: 'marketing',
  subject: 'Hello {{ first_name | default: "there" }}',
  html: '<p>News for {{ city }}. <a href="https://example.com/news">Read</a></p>',
}

export const emails = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, '0')}@example.com`)

/** Like `fill`, in a new organization of a service in another process. */
export async function fillUrl(url: string) {
  const { manage, apiKey } = await newCustomer(url)
  const headers = { 'x-api-token': apiKey }
  return fill({
    manage,
    publicApi: (method, path, body) => callUrl(method, `${url}/public/api/v1${path}`, { headers, body }),
  })
}

/** A flow, and functions that create groups and broadcasts. */
export async function fill(app: Pick<TestApp, 'manage' | 'publicApi'>) {
  const make = (path: string, body: object) => createResource(app, path, body)
  const flow: string = (await make('/flows', news)).id
  const group = async (name: string, addresses: string[], attributes: object = { city: 'Vienna' }) => {
    const { id } = await make('/groups', { name })
    for (let at = 0; at < addresses.length; at += 1_000)
      await app.publicApi('POST', '/contacts/add-group-members', {
        group_id: id,
        members: addresses.slice(at, at + 1_000).map((email) => ({ email, attributes })),
      })
    return id as string
  }
  const create = async (groupIds: string[], more: object = {}) => {
    const { id } = await make('/broadcasts', {
      name: 'News',
      flow_id: flow,
      audience: { group_ids: groupIds },
      ...more,
    })
    const path = `/organization/broadcasts/${id}`
    const get = async () => (await app.manage('GET', path)).body.data
    const act = async (action: string, body?: object) => app.manage('POST', `${path}/${action}`, body)
    const start = async (action = 'start') => {
      const { recipients } = (await act('check')).body.data
      return act(action, { expected_recipients: recipients })
    }
    const ended = async (...statuses: string[]) => {
      const states = statuses.length > 0 ? statuses : ['sent']
      return until(`the broadcast to be ${states}`, async () => {
        const broadcast = await get()
        return states.includes(broadcast.status) && broadcast
      })
    }
    const recipients = async (status: string) => {
      const { body } = await app.manage('GET', `${path}/recipients?status=${status}&limit=100`)
      return body.data as { email: string; reason: string | null; message_id: string | null }[]
    }
    return { id, get, act, start, ended, recipients }
  }
  return { make, flow, group, create }
}

type Recipient = { contact_id: string; message_id: string }
type Reaction = Pick<NewEvent, 'eventName'> & Partial<Pick<NewEvent, 'occurredAt' | 'machine' | 'data'>>

/** Returns an event of the email that a recipient of a broadcast got. */
export const reactionOf = (
  { organizationId }: Pick<TestApp, 'organizationId'>,
  flow: string,
  { contact_id, message_id }: Recipient,
  reaction: Reaction,
): NewEvent => ({
  id: newId('evt'),
  organizationId: parseId('org', organizationId) as OrganizationId,
  occurredAt: new Date(),
  messageId: parseId('msg', message_id) as MessageId,
  flowId: parseId('flw', flow) as FlowId,
  contactId: parseId('con', contact_id) as ContactId,
  machine: false,
  machineReason: null,
  data: {},
  ...reaction,
})

/** Records that recipients of broadcasts opened an email of the flow. */
export const opener =
  (app: Pick<TestApp, 'db' | 'organizationId'>, flow: string) =>
  (recipient: Recipient, machine = false) =>
    app.db.begin((tx) => recordEvents(tx, [reactionOf(app, flow, recipient, { eventName: 'emailOpen', machine })]))

/**
 * Stores a paused broadcast to all contacts, with recipients of every status. Nothing that another broadcast does may
 * change its rows.
 */
export async function storeOtherBroadcast({ db }: Pick<TestApp, 'db'>) {
  const id = newId('brc')
  await db.statement`
    insert into broadcasts (organization_id, id, name, status, recipients)
    select id, ${id}, 'Other', 'paused', 1 from organizations`
  await db.statement`
    insert into broadcast_recipients (organization_id, broadcast_id, contact_id, status, message_id, variant, zone)
    select organization_id, ${id}, id, (array['pending', 'failed', 'queued', 'sent'])[1 + row_number() over () % 4],
      gen_random_uuid(), 1, 'UTC'
    from contacts`
  await db.statement`
    insert into broadcast_counts (organization_id, broadcast_id, status, recipients)
    select id, ${id}, unnest(array['pending', 'failed', 'queued', 'sent']), 7 from organizations`
  await db.statement`
    insert into broadcast_parts (organization_id, broadcast_id, part, after_contact, to_contact)
    select id, ${id}, 0, ${id}, ${id} from organizations`
  await db.statement`
    insert into lanes (organization_id, kind, lane, held)
    select id, unnest(array['broadcast.run', 'message.send']), ${id}::text, true from organizations`
  const readRows = async () => {
    const rows = await db<{ row: string }>`
      select to_jsonb(broadcasts)::text as row from broadcasts where id = ${id}
      union all select to_jsonb(ledger)::text from broadcast_recipients as ledger where broadcast_id = ${id}
      union all select to_jsonb(counts)::text from broadcast_counts as counts where broadcast_id = ${id}
      union all select to_jsonb(range)::text from broadcast_parts as range where broadcast_id = ${id}
      union all select to_jsonb(lanes)::text from lanes where lane = ${id}::text`
    return rows.map(({ row }) => row).sort()
  }
  const stored = await readRows()
  return { stored, readRows }
}
