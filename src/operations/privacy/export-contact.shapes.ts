import { Type } from 'typebox'
import { type ActorType, actorIdText, ConsentOut, consentOut } from '../../audience/audience.ts'
import { FreeObject, Named, Nullable, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { type GroupId, toText } from '../../platform/values/ids.ts'
import { TagSchema } from '../../sending/sending.ts'

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
    html: Nullable(Type.String({ description: 'The content of an email without a flow, like `text`.' })),
    text: Nullable(Type.String()),
    attachments: Type.Array(Type.String(), { description: 'The names of its attachments.' }),
    tags: Nullable(Type.Array(TagSchema)),
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
export type ListName = keyof typeof lists
export const listNames = Object.keys(lists) as ListName[]

const Contact = Type.Object({
  id: Type.String(),
  email: Type.String(),
  first_name: Nullable(Type.String()),
  last_name: Nullable(Type.String()),
  attributes: FreeObject,
  subscription: Type.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
  created_by: Actor,
})

export const ContactExport = Named('ContactExport', {
  exported_at: Timestamp,
  contact: Contact,
  truncated: Type.Array(Type.String(), {
    description: 'Lists that are too long for one export: of these, the newest entries are exported.',
  }),
  ...Object.fromEntries(Object.entries(lists).map(([name, item]) => [name, Type.Array(item)])),
})

type ActorRow = { actorType: ActorType | null; actorId: string | null }
const actorOut = ({ actorType: type, actorId }: ActorRow) => type && { type, id: actorIdText(type, actorId) }

export const contactOut = outOf(Contact, { id: 'con' }, { created_by: actorOut })

/** Functions that turn the rows of a list into its entries. */
export const entryOut = {
  groups: outOf(lists.groups, { id: 'grp' }, { added_by: actorOut }),
  history: outOf(lists.history, {}, { actor: actorOut, details: detailsOut }),
  consents: consentOut,
  messages: outOf(lists.messages, { id: 'msg', flow_id: 'flw' }),
  events: outOf(lists.events, { id: 'evt', message_id: 'msg' }),
  webhook_deliveries: outOf(lists.webhook_deliveries, { id: 'dlv', webhook_id: 'whk', event_id: 'evt' }),
  suppressions: outOf(lists.suppressions, { message_id: 'msg' }),
  inbox: outOf(lists.inbox, { message_id: 'msg' }, { raw: ({ raw }: { raw: Buffer }) => raw.toString() }),
  rejected_import_rows: outOf(lists.rejected_import_rows, { import_id: 'imp' }),
}

function detailsOut({ details: { group_id, ...details } }: { details: { group_id?: GroupId } }) {
  return { ...details, ...(group_id && { group_id: toText('grp', group_id) }) }
}
