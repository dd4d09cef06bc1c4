import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { csvFile, sendCsv } from '../../platform/http/csv.ts'
import {
  answers,
  created,
  creates,
  errorsOnly,
  FreeObject,
  IdParams,
  Named,
  Nullable,
  ok,
  oneOf,
  page,
  pages,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { checkIfMatch, editedSince, etagOf } from '../../platform/http/etag.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, toPage, uuidPart } from '../../platform/http/paging.ts'
import { largeBodyBytesMax } from '../../platform/http/policies.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseEmailField } from '../../platform/values/email.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { contactStatuses } from '../segments/filter.ts'
import { resolveFilter } from '../segments/nested-segments.ts'
import { getSegment } from '../segments/segments.ts'
import { attributeTypes, selectAttributes } from './attributes.sql.ts'
import { type Contact, type ContactOrder, contactOrders, isByEmail } from './contacts.sql.ts'
import { createContact, editContact, getContact } from './contacts.ts'
import { countMatching } from './count.ts'
import { exportColumns, exportedContacts } from './export.ts'
import { attributeKeysMax, nameMax, parseFields } from './fields.ts'
import { filterQuery, readFilter } from './filter-query.ts'
import { listContacts } from './list.ts'

const groupsMax = 100
const attributesMax = 200

const ContactOut = Named('Contact', {
  id: Type.String(),
  email: Type.String(),
  first_name: Nullable(Type.String()),
  last_name: Nullable(Type.String()),
  attributes: FreeObject,
  status: oneOf(...contactStatuses),
  created_at: Timestamp,
  last_active_at: Nullable(
    Type.String({
      format: 'date-time',
      description: 'When a person last opened or clicked an email. Automated opens and clicks do not count.',
    }),
  ),
  groups: Type.Array(Named('GroupReference', { id: Type.String(), name: Type.String() })),
})
const fieldsIn = {
  first_name: Type.Optional(Nullable(Type.String({ maxLength: nameMax }))),
  last_name: Type.Optional(Nullable(Type.String({ maxLength: nameMax }))),
  attributes: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: attributeKeysMax })),
}
type Api = Parameters<FastifyPluginAsyncTypebox>[0]
type Parts = {
  db: Db
  read: BoundedRead
  readFirst: BoundedRead
  readQuickly: BoundedRead
  readCounts: BoundedRead
}

const exactQuery = {
  exact: Type.Optional(
    Type.Boolean({ description: 'Whether to wait up to 5 seconds for the exact number. Defaults to false.' }),
  ),
}
const estimated =
  'If there are more than 50,000 contacts and that takes longer than 200 ms, the number is estimated from a sixteenth of them, unless `exact` is true.'

export function contactRoutes(parts: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    searchAndCreate(api, parts)
    readOne(api, parts)
    edit(api, parts)
  }
}

function searchAndCreate(api: Api, { db, read, readFirst, readQuickly, readCounts }: Parts): void {
  tagRoutes(api, 'Contacts')
  const reads = { fastRead: readQuickly, slowRead: readCounts }
  api.get('/contacts', {
    config: { permission: 'contacts:read' },
    schema: {
      operationId: 'listContacts',
      summary: 'List contacts',
      description:
        'Up to five words of `query` are searched in the address and the names, without regard to case and accents. All filters can be combined.',
      errors: { not_found: 'The segment does not exist.' },
      querystring: Type.Object({
        ...filterQuery,
        sort: Type.Optional(
          Type.Unsafe<ContactOrder>({ ...oneOf(...contactOrders), description: 'Defaults to the newest first.' }),
        ),
        ...pageQuery,
      }),
      response: pages(ContactOut),
    },
    handler: async (request) => {
      const { sort = '-created_at' } = request.query
      const asked = readPage(request.query, [isByEmail(sort) ? /^[^\0]+$/ : uuidPart])
      const organizationId = organizationIdOf(request)
      const filter = await readFilter(db, request)
      const rows = await listContacts({ readFirst, read }, organizationId, filter, asked, sort)
      const { items, nextCursor } = toPage(rows, asked.limit, (row) => [isByEmail(sort) ? row.emailKey : row.id])
      return page({ items: items.map(contactOut), nextCursor })
    },
  })

  api.get('/contacts/count', {
    config: { permission: 'contacts:read' },
    schema: {
      operationId: 'countContacts',
      summary: 'Count contacts',
      description: `Takes the same filters as the list of contacts. ${estimated} Then \`approximate\` is true.`,
      errors: { not_found: 'The segment does not exist.' },
      querystring: Type.Object({ ...filterQuery, ...exactQuery }),
      response: answers(Named('ContactCount', { count: Type.Integer(), approximate: Type.Boolean() })),
    },
    handler: async (request) => {
      const exact = request.query.exact ?? false
      return ok(await countMatching(reads, organizationIdOf(request), await readFilter(db, request), { exact }))
    },
  })

  api.get('/contacts/attributes', {
    config: { permission: 'contacts:read' },
    schema: {
      operationId: 'listContactAttributes',
      summary: 'List contact attributes',
      description: `The attributes that contacts have, with the type of most of their values: up to ${attributesMax}, the most frequent first. With more than 2,000 contacts, the newest contacts, a sample of all contacts and the columns of imports are read, so a rare attribute may be missing.`,
      response: answers(
        Type.Array(
          Named('ContactAttribute', {
            name: Type.String({ description: 'In templates: `contact.attributes.<name>`.' }),
            type: { ...oneOf(...attributeTypes), description: 'The type for a condition in a filter.' },
          }),
        ),
      ),
    },
    handler: async (request) =>
      ok(await read(organizationIdOf(request), (db, id) => selectAttributes(db, id, attributesMax))),
  })

  api.get('/segments/:id/count', {
    config: { permission: 'contacts:read' },
    schema: {
      tags: ['Segments'],
      operationId: 'countSegment',
      summary: 'Count the contacts of a segment',
      description: `Counts its contacts now. ${estimated} Then \`exact\` in the response is false.`,
      params: IdParams,
      querystring: Type.Object(exactQuery),
      response: answers(Named('SegmentCount', { count: Type.Integer(), exact: Type.Boolean() })),
    },
    handler: async (request) => {
      const organizationId = organizationIdOf(request)
      const { filter } = await getSegment(db, organizationId, parseIdParam('seg', request.params.id))
      const { count, approximate } = await countMatching(
        reads,
        organizationId,
        { filters: [await resolveFilter(db, organizationId, filter)] },
        { exact: request.query.exact ?? false },
      )
      return ok({ count, exact: !approximate })
    },
  })

  api.get('/contacts/export', {
    config: { permission: 'contacts:read' },
    schema: {
      operationId: 'exportContacts',
      summary: 'Export contacts',
      description:
        'A CSV file of the contacts that match a filter, oldest first. Fields, groups and one column per attribute; above 200 attributes, one column with all of them as JSON. The response is streamed. Cells that a spreadsheet would run as a formula start with an apostrophe.',
      errors: { not_found: 'The segment does not exist.' },
      querystring: Type.Object(filterQuery),
      response: { 200: csvFile, ...errorsOnly },
    },
    handler: async (request, reply) => {
      const filter = await readFilter(db, request)
      const organizationId = organizationIdOf(request)
      const columns = await exportColumns(read, organizationId, filter)
      const contacts = exportedContacts({ read, readAll: readCounts }, organizationId, filter)
      return sendCsv(reply, 'contacts.csv', columns, contacts)
    },
  })

  api.post('/contacts', {
    config: { permission: 'contacts:write' },
    bodyLimit: largeBodyBytesMax,
    schema: {
      operationId: 'createContact',
      summary: 'Create a contact',
      description:
        'The contact is subscribed, unless its address unsubscribed earlier. `group_ids` adds it to at most 100 groups. Attributes are free-form: at most 100 keys, 16 KiB as JSON, 10 levels deep.',
      errors: {
        conflict: 'A contact with this address already exists. Addresses are compared without regard to case.',
        not_found: 'One of the groups does not exist. Nothing was created.',
      },
      body: Type.Object({
        email: Type.String({ minLength: 1 }),
        ...fieldsIn,
        group_ids: Type.Optional(
          Type.Array(Type.String(), { maxItems: groupsMax, description: 'Groups to add the contact to (`grp_…`).' }),
        ),
        subscription: Type.Optional(
          Type.Unsafe<'subscribed' | 'not_subscribed'>({
            ...oneOf('subscribed', 'not_subscribed'),
            default: 'subscribed',
            description:
              'With not_subscribed the contact receives transactional email only. Must be subscribed if group_ids are given. An address that unsubscribed earlier stays unsubscribed.',
          }),
        ),
      }),
      response: creates(ContactOut),
    },
    handler: async (request, reply) => {
      const { email, group_ids: groupTexts = [], subscription = 'subscribed' } = request.body
      const input = {
        ...parseFields(request.body),
        address: parseEmailField('email', email),
        groupIds: [...new Set(groupTexts)].map((text) => parseIdParam('grp', text)),
        subscription,
      }
      const contact = await createContact(db, organizationIdOf(request), input, callerOf(request))
      return reply.status(201).send(created(contactOut(contact)))
    },
  })
}

function readOne(api: Api, { db }: Parts): void {
  tagRoutes(api, 'Contacts')
  api.get('/contacts/:id', {
    config: { permission: 'contacts:read' },
    schema: {
      operationId: 'getContact',
      summary: 'Get a contact',
      description: '`status` combines the subscription of the contact with the suppressions of its address.',
      params: IdParams,
      response: answers(ContactOut),
    },
    handler: async (request, reply) => {
      const contact = await getContact(db, ...targetOf(request, 'con'))
      reply.header('etag', tagOf(contact))
      return ok(contactOut(contact))
    },
  })
}

function edit(api: Api, { db }: Parts): void {
  tagRoutes(api, 'Contacts')
  api.patch('/contacts/:id', {
    config: { permission: 'contacts:write' },
    bodyLimit: largeBodyBytesMax,
    schema: {
      operationId: 'updateContact',
      summary: 'Update a contact',
      description:
        'Omitted fields keep their value, null clears a name, and attributes are replaced as a whole. Unsubscribing records a contactUnsubscribe event. Subscribing removes an unsubscription, but no other suppression.',
      errors: { conflict: 'Another contact has this address.', precondition_failed: editedSince },
      params: IdParams,
      body: Type.Object({
        email: Type.Optional(Type.String({ minLength: 1 })),
        ...fieldsIn,
        status: Type.Optional({
          ...oneOf('subscribed', 'unsubscribed'),
          description: 'Subscribes or unsubscribes the contact.',
        }),
      }),
      response: answers(ContactOut),
    },
    handler: async (request, reply) => {
      const [organizationId, id] = targetOf(request, 'con')
      const { email, status } = request.body
      const change = {
        ...parseFields(request.body),
        address: email === undefined ? undefined : parseEmailField('email', email),
        status,
        checkUnchanged: checkIfMatch(request, tagOf),
      }
      const contact = await editContact(db, organizationId, id, change, callerOf(request))
      reply.header('etag', tagOf(contact))
      return ok(contactOut(contact))
    },
  })
}

const tagOf = ({ email, firstName, lastName, attributes, status }: Contact) =>
  etagOf(email, firstName, lastName, attributes, status)

const contactOut = outOf(
  ContactOut,
  { id: 'con' },
  { groups: ({ groups }: Contact) => groups.map(({ id, name }) => ({ id: toText('grp', id), name })) },
)
