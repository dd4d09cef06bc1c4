import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  answers,
  created,
  creates,
  Named,
  Nothing,
  Nullable,
  ok,
  oneOf,
  page,
  pages,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { pageQuery, readPage, timePart, toPage } from '../../platform/http/paging.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseEmail, parseEmailField } from '../../platform/values/email.ts'
import { suppressionReasons } from '../contacts/eligibility.ts'
import { selectSuppressions } from './suppressions.sql.ts'
import { addManualSuppression, liftSuppression, notSuppressed } from './suppressions.ts'

export const detailMax = 500
const queryMax = 200

const SuppressionOut = Named('Suppression', {
  email: Type.String(),
  reason: oneOf(...suppressionReasons),
  detail: Nullable(Type.String()),
  created_at: Timestamp,
  message_id: Nullable(Type.String()),
})
const cursorParts = [timePart, /^\P{Cc}+$/u, /^[a-z_]+$/]

export function suppressionRoutes({ db, read }: { db: Db; read: BoundedRead }): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Suppressions')
    api.get('/suppressions', {
      config: { permission: 'contacts:read' },
      schema: {
        operationId: 'listSuppressions',
        summary: 'List suppressions',
        description:
          'Addresses that receive no email, or no marketing email if the reason is unsubscribe. Newest first. An address can have several suppressions with different reasons.',
        querystring: Type.Object({
          query: Type.Optional(
            Type.String({
              maxLength: queryMax,
              description: 'Part of the address, or the id of a contact or message.',
            }),
          ),
          reason: Type.Optional(oneOf(...suppressionReasons)),
          ...pageQuery,
        }),
        response: pages(SuppressionOut),
      },
      handler: async (request) => {
        const { query, reason } = request.query
        const asked = readPage(request.query, cursorParts)
        const filter = { query: query?.replaceAll('\0', '').trim(), reason }
        const organizationId = organizationIdOf(request)
        const rows = await read(organizationId, (tx) => selectSuppressions(tx, organizationId, filter, asked))
        const { items, nextCursor } = toPage(rows, asked.limit, (row) => [
          row.createdAt.toISOString(),
          row.emailKey,
          row.reason,
        ])
        return page({ items: items.map(suppressionOut), nextCursor })
      },
    })

    api.post('/suppressions', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'createSuppression',
        summary: 'Suppress an address',
        description:
          'The address receives no email, neither transactional nor marketing. Suppressing an address again changes nothing. The address does not need to be a contact.',
        body: Type.Object({
          email: Type.String({ minLength: 1 }),
          detail: Type.Optional(Type.String({ maxLength: detailMax })),
        }),
        response: creates(SuppressionOut),
      },
      handler: async (request, reply) => {
        const { email, detail } = request.body
        const input = { address: parseEmailField('email', email), detail }
        const suppression = await addManualSuppression(db, organizationIdOf(request), input, callerOf(request))
        return reply.status(201).send(created(suppressionOut(suppression)))
      },
    })

    api.delete('/suppressions/:email', {
      config: { permission: 'contacts:write' },
      schema: {
        operationId: 'deleteSuppression',
        summary: 'Remove the suppressions of an address',
        description:
          'Removes the suppressions for all reasons. An unsubscribed contact becomes subscribed. Only remove a suppression for a hard bounce or a complaint if you know that the address works and its owner wants your email.',
        errors: { not_found: 'The address is not suppressed.' },
        params: Type.Object({ email: Type.String() }),
        response: answers(Nothing),
      },
      handler: async (request) => {
        const email = parseEmail(request.params.email)
        if (!email.ok) throw notSuppressed()
        await liftSuppression(db, organizationIdOf(request), email.key, callerOf(request))
        return ok(null, 'Suppressions removed')
      },
    })
  }
}

const suppressionOut = outOf(SuppressionOut, { message_id: 'msg' })
