import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  answers,
  created,
  creates,
  IdParams,
  Named,
  Nothing,
  ok,
  page,
  pages,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { type CursorPart, pageQuery, readPage, toPage } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { parseId } from '../../platform/values/ids.ts'
import { nameMax } from '../../platform/values/names.ts'
import { selectGroups } from './groups.sql.ts'
import { addToGroup, createGroup, getGroup, removeFromGroup, removeGroup, renameGroup } from './groups.ts'

const addedMax = 1_000

const GroupIn = Named('GroupInput', { name: Type.String({ minLength: 1, maxLength: nameMax }) })
const GroupOut = Named('Group', {
  id: Type.String(),
  name: Type.String(),
  member_count: Type.Integer(),
  created_at: Timestamp,
})

const anyName: CursorPart = { test: (value) => value.length <= nameMax }

export function groupRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Groups')
    api.get('/groups', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'listGroups',
        summary: 'List groups',
        description:
          'Sorted by name. All groups are in one response unless there is a `limit`. An organization can have 1,000.',
        querystring: Type.Object({
          cursor: pageQuery.cursor,
          limit: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 100, description: 'The number of entries on a page, from 1 to 100.' }),
          ),
        }),
        response: pages(GroupOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const { limit } = request.query
        const { cursor } = readPage(request.query, [anyName])
        const rows = await read(organizationId, (tx) =>
          selectGroups(tx, organizationId, cursor?.[0], limit && limit + 1),
        )
        return page(toPage(rows.map(groupOut), limit ?? rows.length, ({ name }) => [name]))
      },
    })

    api.post('/groups', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'createGroup',
        summary: 'Create a group',
        description: 'Names are unique within the organization.',
        errors: { conflict: 'A group with this name exists, or the organization has 1,000 groups.' },
        body: GroupIn,
        response: creates(GroupOut),
      },
      handler: async (request, reply) => {
        const group = await createGroup(db, organizationIdOf(request), request.body.name)
        return reply.status(201).send(created(groupOut(group)))
      },
    })

    api.get('/groups/:id', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'getGroup',
        summary: 'Get a group',
        description: '`member_count` includes unsubscribed and suppressed contacts.',
        params: IdParams,
        response: answers(GroupOut),
      },
      handler: async (request) => ok(groupOut(await getGroup(db, ...targetOf(request, 'grp')))),
    })

    api.patch('/groups/:id', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'updateGroup',
        summary: 'Rename a group',
        description: 'Membership does not change.',
        errors: { conflict: 'Another group has this name.' },
        params: IdParams,
        body: GroupIn,
        response: answers(GroupOut),
      },
      handler: async (request) => ok(groupOut(await renameGroup(db, ...targetOf(request, 'grp'), request.body.name))),
    })

    api.delete('/groups/:id', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'deleteGroup',
        summary: 'Delete a group',
        description: 'The contacts in the group are kept. This cannot be undone.',
        errors: { conflict: 'The filter of a segment names the group.' },
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await removeGroup(db, ...targetOf(request, 'grp'))
        return ok(null, 'Group deleted')
      },
    })

    membershipRoutes(api, db)
  }
}

function membershipRoutes(api: Parameters<FastifyPluginAsyncTypebox>[0], db: Db): void {
  tagRoutes(api, 'Groups')
  api.post('/groups/:id/members', {
    config: { permission: 'contacts:write' },
    schema: {
      operationId: 'addContactsToGroup',
      summary: 'Add contacts to a group',
      description:
        'Adds all contacts or, if one of them does not exist, none. 1 to 1,000 contacts. A contact that was only ever created by a send becomes subscribed. `added` counts the contacts that were not in the group yet.',
      errors: { not_found: 'The group or one of the contacts does not exist. `error.fields` names the contacts.' },
      params: IdParams,
      body: Type.Object({ contact_ids: Type.Array(Type.String(), { minItems: 1, maxItems: addedMax }) }),
      response: answers(Named('AddedContacts', { added: Type.Integer() })),
    },
    handler: async (request) => {
      const [organizationId, groupId] = targetOf(request, 'grp')
      const contactIds = request.body.contact_ids.map((text) => parseId('con', text))
      return ok({ added: await addToGroup(db, organizationId, groupId, contactIds, callerOf(request)) })
    },
  })

  api.delete('/groups/:id/members/:contact_id', {
    config: { permission: 'contacts:write' },
    schema: {
      operationId: 'removeContactFromGroup',
      summary: 'Remove a contact from a group',
      description: 'The contact itself and its subscription do not change.',
      errors: { not_found: 'The group does not exist, or the contact is not in it.' },
      params: Type.Object({ id: Type.String(), contact_id: Type.String() }),
      response: answers(Nothing),
    },
    handler: async (request) => {
      const contactId = parseIdParam('con', request.params.contact_id)
      await removeFromGroup(db, ...targetOf(request, 'grp'), contactId, callerOf(request))
      return ok(null, 'Contact removed from the group')
    },
  })
}

const groupOut = outOf(GroupOut, { id: 'grp' })
