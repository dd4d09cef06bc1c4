import { type Static, Type } from 'typebox'
import { ConsentOut, consentOut } from '../contacts/consents.routes.ts'
import { type ActorType, actorIdText } from '../contacts/history.ts'
import { FreeObject, Named, Nullable, Timestamp } from '../http/envelope.ts'
import { type ContactId, toText } from '../values/ids.ts'
import type {
  ExportedChange,
  ExportedContact,
  ExportedDelivery,
  ExportedEvent,
  ExportedGroup,
  ExportedImportRow,
  ExportedInboxEmail,
  ExportedMessage,
  ExportedSuppression,
} from './export-contact.sql.ts'

const Actor = Nullable(Named('Actor', { type: Type.String(), id: Nullable(Type.String()) }))

const lists = {
  groups: Type.Object({ id: Type.String(), name: Type.String(), added_at: Timestamp, added_by: Actor }),
  history: Type.Object({
    at: Timestamp,
    change: Type.String(),
    actor: Actor,
    ip: Nullable(Type.String()),
    details: FreeObject,
  }),
  consents: ConsentOut,
  messages: Type.Object({
    id: Type.String(),
    flow_id: Type.String(),
    flow_name: Nullable(Type.String()),
    email: Type.String(),
    subject: Type.String(),
    context: Nullable(FreeObject),
    recipient: Nullable(FreeObject),
    status: Type.String(),
    reason: Nullable(Type.String()),
    relay_response: Nullable(Type.String()),
    is_test: Type.Boolean(),
    queued_at: Timestamp,
    sent_at: Nullable(Timestamp),
    send_at: Nullable(Timestamp),
  }),
  events: Type.Object({
    id: Type.String(),
    event_name: Type.String(),
    occurred_at: Timestamp,
    message_id: Nullable(Type.String()),
    machine: Type.Boolean(),
    machine_reason: Nullable(Type.String()),
    contact_email: Nullable(Type.String({ description: 'The address and name at the time of the event.' })),
    contact_first_name: Nullable(Type.String()),
    data: FreeObject,
  }),
  webhook_deliveries: Type.Object({
    id: Type.String(),
    webhook_id: Type.String(),
    url: Type.String(),
    event_id: Type.String(),
    event_name: Type.String(),
    status: Type.String(),
    created_at: Timestamp,
    delivered_at: Nullable(Timestamp),
    body: Nullable(Type.String({ description: 'The JSON text that was sent. Null before the first attempt.' })),
  }),
  suppressions: Type.Object({
    email: Type.String(),
    reason: Type.String(),
    detail: Nullable(Type.String()),
    message_id: Nullable(Type.String()),
    created_at: Timestamp,
  }),
  inbox: Type.Object({
    message_id: Type.String(),
    from: Type.String(),
    to: Type.String(),
    received_at: Timestamp,
    raw: Type.String({ description: 'The email as it was composed.' }),
  }),
  rejected_import_rows: Type.Object({
    import_id: Type.String(),
    line: Type.Integer(),
    email: Nullable(Type.String()),
    cells: Nullable(Type.Array(Type.String())),
    problem: Type.String(),
  }),
}
export type Lists = { [Name in keyof typeof lists]: Static<(typeof lists)[Name]>[] }

export const ContactExport = Named('ContactExport', {
  exported_at: Timestamp,
  contact: Type.Object({
    id: Type.String(),
    email: Type.String(),
    first_name: Nullable(Type.String()),
    last_name: Nullable(Type.String()),
    attributes: FreeObject,
    subscription: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    created_by: Actor,
  }),
  truncated: Type.Array(Type.String(), {
    description: 'Lists that are too long for one export: of these, the newest entries are exported.',
  }),
  ...Object.fromEntries(Object.entries(lists).map(([name, item]) => [name, Type.Array(item)])),
})

const actorOut = (type: ActorType | null, id: string | null) => type && { type, id: actorIdText(type, id) }

export const contactOut = (id: ContactId, contact: ExportedContact) => ({
  id: toText('con', id),
  email: contact.email,
  first_name: contact.firstName,
  last_name: contact.lastName,
  attributes: contact.attributes,
  subscription: contact.subscription,
  created_at: contact.createdAt.toISOString(),
  updated_at: contact.updatedAt.toISOString(),
  created_by: actorOut(contact.createdByType, contact.createdById),
})

/** From a row to an entry of the list of this name. */
export const entryOut = {
  groups: ({ id, name, addedAt, addedByType, addedById }: ExportedGroup) => ({
    id: toText('grp', id),
    name,
    added_at: addedAt.toISOString(),
    added_by: actorOut(addedByType, addedById),
  }),
  history: ({ at, type, actorType, actorId, ip, details: { group_id, ...details } }: ExportedChange) => ({
    at: at.toISOString(),
    change: type,
    actor: actorOut(actorType, actorId),
    ip,
    details: { ...details, ...(group_id && { group_id: toText('grp', group_id) }) },
  }),
  consents: consentOut,
  messages: (row: ExportedMessage) => ({
    id: toText('msg', row.id),
    flow_id: toText('flw', row.flowId),
    flow_name: row.flowName,
    email: row.email,
    subject: row.subject,
    context: row.context,
    recipient: row.recipient,
    status: row.status,
    reason: row.reason,
    relay_response: row.relayReply,
    is_test: row.isTest,
    queued_at: row.queuedAt.toISOString(),
    sent_at: row.sentAt?.toISOString() ?? null,
    send_at: row.sendAt?.toISOString() ?? null,
  }),
  events: (row: ExportedEvent) => ({
    id: toText('evt', row.id),
    event_name: row.eventName,
    occurred_at: row.occurredAt.toISOString(),
    message_id: row.messageId && toText('msg', row.messageId),
    machine: row.machine,
    machine_reason: row.machineReason,
    contact_email: row.contactEmail,
    contact_first_name: row.contactFirstName,
    data: row.data,
  }),
  webhook_deliveries: (row: ExportedDelivery) => ({
    id: toText('dlv', row.id),
    webhook_id: toText('whk', row.webhookId),
    url: row.webhookUrl,
    event_id: toText('evt', row.eventId),
    event_name: row.eventName,
    status: row.status,
    created_at: row.createdAt.toISOString(),
    delivered_at: row.deliveredAt?.toISOString() ?? null,
    body: row.body,
  }),
  suppressions: ({ email, reason, detail, messageId, createdAt }: ExportedSuppression) => ({
    email,
    reason,
    detail,
    message_id: messageId && toText('msg', messageId),
    created_at: createdAt.toISOString(),
  }),
  inbox: ({ messageId, sender, recipient, receivedAt, raw }: ExportedInboxEmail) => ({
    message_id: toText('msg', messageId),
    from: sender,
    to: recipient,
    received_at: receivedAt.toISOString(),
    raw: raw.toString(),
  }),
  rejected_import_rows: ({ importId, line, email, cells, problem }: ExportedImportRow) => ({
    import_id: toText('imp', importId),
    line,
    email,
    cells,
    problem,
  }),
} satisfies { [Name in keyof Lists]: (row: never) => Lists[Name][number] }
