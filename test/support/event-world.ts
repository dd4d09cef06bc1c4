import { randomUUID } from 'node:crypto'
import { type NewEvent, recordEvents } from '../../src/events/recording/record.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { EventData, EventName } from '../../src/platform/values/event-types.ts'
import {
  type ContactId,
  type EventId,
  type FlowId,
  leastId,
  type MessageId,
  newId,
  type OrganizationId,
  parseId,
} from '../../src/platform/values/ids.ts'
import type { TestApp } from './test-app.ts'

/** Before all events of the tests: an email is opened after it was accepted. */
const acceptedAtMs = Date.UTC(2026, 0, 1)

type WorldMessage = { id: MessageId; flowId: FlowId; contactId: ContactId; email: string }
export type World = { organizationId: OrganizationId; flowIds: FlowId[]; messages: WorldMessage[] }

/** Creates flows, contacts and sent messages to record events for, in the given organization or a new one. */
export async function createWorld(
  db: Db,
  {
    messages = 1,
    flows = 1,
    organizationId,
  }: { messages?: number; flows?: number; organizationId?: OrganizationId } = {},
): Promise<World> {
  const organization = organizationId ?? newId('org')
  if (!organizationId) await db.statement`insert into organizations (id, name) values (${organization}, 'World')`
  const flowIds = Array.from({ length: flows }, () => newId('flw'))
  await db.statement`
    insert into flows (organization_id, id, name, kind, version_id)
    select ${organization}, id, 'Flow ' || number, 'marketing', id
    from unnest(${flowIds}::uuid[]) with ordinality as flow (id, number)`
  const made = Array.from({ length: messages }, (_, index): WorldMessage => {
    const contactId = newId('con')
    return {
      id: eventIdAt(new Date(acceptedAtMs + index)) as string as MessageId,
      flowId: flowIds[index % flows]!,
      contactId,
      email: `Reader.${contactId.slice(-12)}@example.com`,
    }
  })
  await db.statement`
    insert into contacts (organization_id, id, email, email_key, first_name, subscription)
    select ${organization}, id, email, lower(email), 'Ada', 'subscribed'
    from unnest(${made.map(({ contactId }) => contactId)}::uuid[], ${made.map(({ email }) => email)}::text[])
      as contact (id, email)`
  await db.statement`
    insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, status)
    select ${organization}, id, flow_id, flow_id, contact_id, email, 'Hello', 'queued'
    from unnest(
      ${made.map(({ id }) => id)}::uuid[],
      ${made.map(({ flowId }) => flowId)}::uuid[],
      ${made.map(({ contactId }) => contactId)}::uuid[],
      ${made.map(({ email }) => email)}::text[]
    ) as message (id, flow_id, contact_id, email)`
  return { organizationId: organization, flowIds, messages: made }
}

/** Like `createWorld`, in the organization of the app. */
export const createWorldIn = (
  { db, organizationId }: Pick<TestApp, 'db' | 'organizationId'>,
  options: { messages?: number; flows?: number } = {},
): Promise<World> => createWorld(db, { organizationId: parseId('org', organizationId)!, ...options })

/** Returns an id with that creation time. */
export function eventIdAt(time: Date): EventId {
  return `${leastId('evt', +time).slice(0, 14)}7${randomUUID().slice(15)}` as EventId
}

export type Happening = {
  at?: Date | string
  machine?: boolean
  data?: EventData
  id?: EventId
  aboutContact?: boolean
}

/** Returns an event of the message at `index`, or of its contact without a message. */
export function eventIn(
  { organizationId, messages }: World,
  index: number,
  eventName: EventName,
  { at = new Date(), machine = false, data = {}, id, aboutContact = false }: Happening = {},
): NewEvent {
  const message = messages[index]!
  const occurredAt = new Date(at)
  return {
    id: id ?? eventIdAt(occurredAt),
    organizationId,
    eventName,
    occurredAt,
    messageId: aboutContact ? null : message.id,
    flowId: aboutContact ? null : message.flowId,
    contactId: message.contactId,
    machine,
    machineReason: machine ? 'scanner' : null,
    data,
  }
}

export const click = (world: World, index: number, url: string, happening: Happening = {}): NewEvent =>
  eventIn(world, index, 'emailClick', { ...happening, data: { url: `https://shop.example/${url}`, user_agent: null } })

/** Returns the ids that were new. */
export async function record(db: Db, events: NewEvent[]): Promise<EventId[]> {
  const { fresh } = await db.begin((tx) => recordEvents(tx, events))
  return fresh.map(({ id }) => id)
}

export async function createWebhook(
  db: Db,
  organizationId: OrganizationId,
  { eventTypes, status = 'active' }: { eventTypes?: EventName[]; status?: 'active' | 'paused' } = {},
): Promise<void> {
  await db.statement`
    insert into webhooks (organization_id, id, name, url, all_events, event_types, secret, status)
    values (${organizationId}, ${newId('whk')}, 'Hook', 'https://hook.example', ${eventTypes === undefined},
      ${eventTypes ?? []}, '', ${status})`
}

export type Counts = { total: number; unique: number; machine: number }

/** Returns the counters, summed over all days and all flows (or one). */
export async function storedCounts(
  db: Db,
  organizationId: OrganizationId,
  eventName: EventName,
  flowId = '00000000-0000-0000-0000-000000000000',
): Promise<Counts> {
  const [row] = await db<Counts>`
    select coalesce(sum(total), 0)::int8 as total, coalesce(sum(uniques), 0)::int8 as unique,
      coalesce(sum(machine), 0)::int8 as machine
    from event_counters
    where organization_id = ${organizationId} and event_name = ${eventName} and flow_id = ${flowId} and grain = 'day'`
  return row!
}
