import { recordKinds } from '../values/errors.ts'
import type { Operation, Parameter, Schema } from './types.ts'

// What parameters and properties mean that are called the same in many operations. A description in the schema of a
// route takes precedence.

const collectionOf = (kind: string) => `${kind.toLowerCase().replace(' ', '-').replace(/ry$/, 'rie')}s`

/** The records in paths, by the collection before their id. */
const records = new Map(
  Object.entries(recordKinds).map(([prefix, kind]) => [collectionOf(kind), `${kind} (\`${prefix}_…\`)`]),
)
records.set('inbox', records.get('messages')!)

const parameters: Readonly<Record<string, string>> = {
  contact_id: 'The id of a contact (`con_…`).',
  email: 'An email address, URL-encoded.',
  event_name: 'The type of the events.',
  filename: 'The name of the file, shown in the list of imports.',
  flow_id: 'The id of a flow (`flw_…`). Only what belongs to it.',
  group_id: 'The id of a group (`grp_…`).',
  'idempotency-key':
    '1 to 255 visible ASCII characters that identify this request. Repeating the request with the same key within 24 hours returns the first response and sends nothing.',
  query: 'Text to search for.',
  reason: 'Only suppressions for this reason.',
  segment_id: 'The id of a segment (`seg_…`). Only contacts that match it.',
  start_date: 'The first day, inclusive.',
  status: 'Only entries with this status.',
  token: 'The token of the link in the invitation.',
  version: 'The number of the version, starting at 1.',
}

type PropertyDocs = { description: string; format?: string }

const flowHtml = 'The HTML part: a Liquid template, in the format `html_format`.'

const properties: Readonly<Record<string, string | PropertyDocs>> = {
  action: 'What to do with the contacts.',
  alerts: 'The alerts that you receive by email.',
  all_events: 'Receive all events of emails and unsubscribes, also types that are added later.',
  attributes: 'Custom values by name. A value of null removes the attribute.',
  audience: 'The contacts that get the email: members of the groups and segments, without those that are excluded.',
  can_start_broadcasts: 'Whether the member may start broadcasts. Owners always may.',
  contact_email: { description: 'The address of the recipient. A contact is created if none has it.', format: 'email' },
  contact_ids: 'The ids of the contacts (`con_…`).',
  context: 'Values for the variables of the template, up to 64 KiB as JSON.',
  current_password: 'Your current password.',
  days: 'The weekdays on which emails are sent.',
  detail: 'A note about the reason.',
  email: { description: 'The email address.', format: 'email' },
  event_name: 'The type of the event.',
  event_types: 'The event types to receive.',
  exclude_group_ids: 'Groups whose members do not get the email.',
  exclude_segment_ids: 'Segments whose contacts do not get the email.',
  first_name: 'The first name.',
  flow_id: 'The id of the flow (`flw_…`).',
  from_email: { description: 'The address in From. The default sender if null.', format: 'email' },
  from_name: 'The name in From.',
  group_id: 'The id of the group (`grp_…`).',
  html: flowHtml,
  html_format: '`html`, or `mjml`, which is compiled to HTML.',
  keep_addresses: 'Whether IP addresses of opens and clicks are stored.',
  kind: '`transactional`, or `marketing`, which only subscribed contacts get.',
  last_name: 'The last name.',
  list: 'Addresses, separated by line breaks, commas or semicolons.',
  members: 'The contacts to add, 1 to 10,000.',
  messages_per_hour: 'The highest rate at which emails are sent. Null for no limit.',
  name: 'A name for people.',
  new_password: 'The new password.',
  organization_name: 'The name of the organization.',
  overlap_hours: 'How long the previous secret stays valid.',
  password: 'The password of the account.',
  query: 'Text to search for in addresses and names.',
  reply_to: { description: 'The address in Reply-To.', format: 'email' },
  role: 'The role in the organization.',
  schedule: 'When the broadcast is sent.',
  segment_id: 'Only contacts that match this segment (`seg_…`).',
  segment_ids: 'Segments whose contacts are in the audience.',
  since: { description: 'Deliveries that failed at this time or later.', format: 'date-time' },
  status: 'The status.',
  subject: 'The subject: a Liquid template.',
  text: 'The text part: a Liquid template. Made from the HTML part if null.',
  to: { description: 'The address of the recipient.', format: 'email' },
  token: 'From the link in the email.',
  url: { description: 'The public HTTPS URL of your endpoint.', format: 'uri' },
  window: 'The hours in which emails are sent. Null for any time.',
}

/** Describes the parameters, request properties and responses that the schema of the route does not describe. */
export function describeOperation(path: string, operation: Operation): void {
  for (const parameter of operation.parameters ?? []) {
    const description = parameter.description ?? parameterDescription(path, parameter)
    if (description) parameter.description = description
  }
  for (const { schema } of Object.values(operation.requestBody?.content ?? {})) if (schema) describeProperties(schema)
  for (const [status, response] of Object.entries(operation.responses))
    if (response.description === 'Default Response') response.description = responseDescriptions[status] ?? 'Success.'
}

const responseDescriptions: Readonly<Record<string, string>> = {
  200: 'Success. The result is in `data`.',
  201: 'Created. The new record is in `data`.',
  202: 'Accepted. The work continues in the background.',
}

function parameterDescription(path: string, { name, in: place }: Parameter): string | undefined {
  if (place === 'path' && name === 'id') {
    const record = records.get(path.split('/{id}')[0]!.split('/').at(-1)!)
    return record && `The id of the ${record}.`
  }
  return parameters[name]
}

function describeProperties(schema: Schema): void {
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, Schema>)) {
    const docs = properties[name]
    if (docs && property.description === undefined && !('$ref' in property)) {
      const { description, format } = typeof docs === 'string' ? { description: docs, format: undefined } : docs
      property.description = description
      if (format && [property.type].flat().includes('string')) property.format ??= format
    }
    describeProperties(property)
  }
  for (const part of [schema.items ?? [], schema.oneOf ?? [], schema.anyOf ?? []].flat() as Schema[])
    describeProperties(part)
}
