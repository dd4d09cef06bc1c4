import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { callerOf, organizationIdOf } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, Named, Nullable, ok, oneOf } from '../../platform/http/envelope.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import { readAddressListTask } from './address-list.task.ts'
import { listCharsMax, listedMax, readAddressList } from './address-list.ts'
import { detailMax } from './suppressions.routes.ts'
import { suppressListed } from './suppressions.ts'

const bodyBytesMax = 1024 * 1024
/** Longer lists are read in a task process. */
const inlineCharsMax = 16 * 1024

const ListOut = Named('SuppressedAddresses', {
  added: Type.Integer(),
  already_suppressed: Type.Integer({ description: 'Addresses that were suppressed manually before, or occur twice.' }),
  rejected: Type.Integer(),
  results: Type.Array(
    Named('SuppressedAddress', {
      line: Type.Integer({ description: 'The line of the list, starting at 1.' }),
      text: Type.String({ description: 'The entry as it was given, truncated.' }),
      email: Nullable(Type.String({ description: 'Null if the entry was rejected.' })),
      status: oneOf('added', 'already_suppressed', 'rejected'),
      problem: Nullable(Type.String({ description: 'Why the entry was rejected.' })),
    }),
  ),
})

/** Suppresses the addresses of a pasted list. */
export function suppressionListRoutes({ db, tasks }: { db: Db; tasks: TaskPool }): FastifyPluginAsyncTypebox {
  return async (api) => {
    api.post('/suppressions/list', {
      config: { permission: 'contacts:write' },
      bodyLimit: bodyBytesMax,
      schema: {
        tags: ['Suppressions'],
        operationId: 'suppressAddresses',
        summary: 'Suppress a list of addresses',
        description: `The list has one address per line, or several separated by commas, semicolons or tabs: at most ${listedMax} addresses. Valid addresses are suppressed even if others are rejected. Each entry has a result. Suppressing an address twice has no effect.`,
        errors: { validation_failed: 'The list is empty, or has too many addresses.' },
        body: Type.Object({
          list: Type.String({ minLength: 1, maxLength: listCharsMax }),
          detail: Type.Optional(Type.String({ maxLength: detailMax })),
        }),
        response: answers(ListOut),
      },
      handler: async (request) => {
        const { list, detail } = request.body
        const organizationId = organizationIdOf(request)
        const entries =
          list.length <= inlineCharsMax
            ? readAddressList(list)
            : await tasks.run(readAddressListTask, { organizationId, input: list })
        const results = await suppressListed(db, organizationId, { entries, detail }, callerOf(request))
        const count = (status: string) => results.filter((result) => result.status === status).length
        return ok({
          added: count('added'),
          already_suppressed: count('already_suppressed'),
          rejected: count('rejected'),
          results,
        })
      },
    })
  }
}
