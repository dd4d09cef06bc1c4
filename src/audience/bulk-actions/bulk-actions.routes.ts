import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { callerOf, organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  accepted,
  accepts,
  answers,
  IdParams,
  Named,
  Nullable,
  ok,
  oneOf,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { invalid } from '../../platform/values/errors.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { filterQuery, parseMatching, queryMax } from '../contacts/filter-query.ts'
import { contactStatuses, FilterRef } from '../segments/filter.ts'
import { checkFilter } from '../segments/parse-filter.ts'
import { bulkActionNames, type Selection, selectBulkActions } from './bulk-actions.sql.ts'
import { cancelBulkAction, getBulkAction, startBulkAction } from './bulk-actions.ts'

const contactsMax = 1_000
const listed = 20

const Matching = Named(
  'ContactSelection',
  {
    query: Type.Optional(Type.String({ maxLength: queryMax })),
    group_id: Type.Optional(Type.String({ description: 'Only members of this group (`grp_…`).' })),
    import_id: filterQuery.import_id,
    segment_id: Type.Optional(Type.String()),
    status: Type.Optional({ ...oneOf(...contactStatuses), description: 'Only contacts with this status.' }),
    filter: Type.Optional(FilterRef),
  },
  { description: 'All contacts that match these filters; all contacts without any.' },
)
const BulkActionIn = Type.Object({
  action: oneOf(...bulkActionNames),
  group_id: Type.Optional(Type.String({ description: 'For `add_to_group` and `remove_from_group`.' })),
  contact_ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: contactsMax })),
  matching: Type.Optional(Matching),
})
const BulkActionOut = Named('BulkAction', {
  id: Type.String(),
  action: oneOf(...bulkActionNames),
  group_id: Nullable(Type.String()),
  status: oneOf('queued', 'running', 'done', 'failed', 'cancelled'),
  reason: Nullable(Type.String()),
  total: Nullable(Type.Integer({ description: 'Null until the contacts have been selected.' })),
  processed: Type.Integer(),
  changed: Type.Integer({ description: 'Contacts that were not in the wanted state before.' }),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
})

type Parts = { db: Db; read: BoundedRead }

export function bulkActionRoutes({ db, read }: Parts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Contacts')
    api.get('/bulk-actions', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'listBulkActions',
        summary: 'List bulk actions',
        description: 'The newest 20. Records are kept for 90 days.',
        response: answers(Type.Array(BulkActionOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        return ok((await read(organizationId, (tx) => selectBulkActions(tx, organizationId, listed))).map(actionOut))
      },
    })

    api.post('/bulk-actions', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'createBulkAction',
        summary: 'Change many contacts',
        description:
          'Adds contacts to a group, removes them from it, unsubscribes, suppresses or erases them, in the background. Name the contacts in `contact_ids`, or select all that match a filter with `matching`. The contacts are selected once, when the action starts, so it does not matter if it changes what the filter tests. Contacts that are already in the wanted state are counted in `processed`, but not in `changed`. An organization can have ten actions in progress. Erasing cannot be undone.',
        errors: {
          conflict: 'Ten actions are in progress.',
          not_found: 'The group or segment does not exist, or a contact id is malformed.',
          validation_failed: 'Neither or both of `contact_ids` and `matching` are given, or the group is missing.',
        },
        body: BulkActionIn,
        response: accepts(BulkActionOut),
      },
      handler: async (request, reply) => {
        const organizationId = organizationIdOf(request)
        const { action } = request.body
        const input = {
          action,
          groupId: groupOf(request.body),
          selection: await selectionOf(db, organizationId, request.body),
        }
        const record = await startBulkAction(db, organizationId, input, callerOf(request))
        return reply.status(202).send(accepted(actionOut(record)))
      },
    })

    api.get('/bulk-actions/:id', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'getBulkAction',
        summary: 'Get a bulk action',
        description: 'Poll it about once a second until `finished_at` is set.',
        params: IdParams,
        response: answers(BulkActionOut),
      },
      handler: async (request) => ok(actionOut(await getBulkAction(db, ...targetOf(request, 'blk')))),
    })

    api.post('/bulk-actions/:id/cancel', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'cancelBulkAction',
        summary: 'Cancel a bulk action',
        description: 'Contacts that were already changed stay changed.',
        errors: { conflict: 'The action has already finished.' },
        params: IdParams,
        response: answers(BulkActionOut),
      },
      handler: async (request) => ok(actionOut(await cancelBulkAction(db, ...targetOf(request, 'blk')))),
    })
  }
}

function groupOf({ action, group_id: group }: Static<typeof BulkActionIn>) {
  if (action !== 'add_to_group' && action !== 'remove_from_group') return null
  if (group === undefined) throw invalid({ path: 'group_id', problem: 'is required' })
  return parseIdParam('grp', group)
}

async function selectionOf(
  db: Db,
  organizationId: OrganizationId,
  { contact_ids: ids, matching }: Static<typeof BulkActionIn>,
): Promise<Selection> {
  if (ids && matching) throw invalid({ path: 'matching', problem: 'cannot be combined with contact_ids' })
  if (ids) return { contactIds: [...new Set(ids)].map((text) => parseIdParam('con', text)) }
  if (!matching) throw invalid({ path: 'contact_ids', problem: 'is required, or matching' })
  return { filter: await parseMatching(db, organizationId, matching, matching.filter && checkFilter(matching.filter)) }
}

const actionOut = outOf(BulkActionOut, { id: 'blk', group_id: 'grp' })
