import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { keyOf } from '../../accounts/accounts.ts'
import { answers, Named, Nullable, ok } from '../../platform/http/envelope.ts'
import { similarField } from '../../platform/http/unknown-fields.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { toText } from '../../platform/values/ids.ts'
import { attributeKeysMax, nameMax } from './fields.ts'
import { memberFields, sentenceOf, unknownFieldsMax } from './member-input.ts'
import { membersMax } from './members.task.ts'
import type { MemberAdder } from './members.ts'

const mib = 1024 * 1024
const bodyBytesMax = 16 * mib
/** 1.1 Mbit/s for the largest body. */
const bodyTimeoutMs = 120_000
/** Bytes of large bodies in memory. A body counts from its first byte to the response, however slowly it arrives. */
const largeBodies = {
  perOrganization: bodyBytesMax,
  overall: 10 * bodyBytesMax,
  waitingPerOrganization: 20,
  waitMs: 30_000,
}
const smallBytesMax = 64 * 1024

const MemberIn = Type.Object({
  email: Type.String({ description: 'The email address. An invalid one is reported in `rejected`.' }),
  first_name: Type.Optional(Nullable(Type.String({ maxLength: nameMax, description: 'Null clears the name.' }))),
  last_name: Type.Optional(Nullable(Type.String({ maxLength: nameMax, description: 'Null clears the name.' }))),
  attributes: Type.Optional(
    Nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: attributeKeysMax,
        description:
          'Merged by key into the attributes of an existing contact; null changes nothing. At most 16 KiB as JSON.',
      }),
    ),
  ),
})

const AddedOut = Named('AddedMembers', {
  group_id: Type.String(),
  received: Type.Integer(),
  created: Type.Integer({ description: 'Contacts that were created.' }),
  updated: Type.Integer({ description: 'Contacts that already existed.' }),
  added: Type.Integer({ description: 'Contacts that were not in the group yet.' }),
  already_members: Type.Integer(),
  rejected: Type.Array(Type.Object({ index: Type.Integer(), email: Nullable(Type.String()), problem: Type.String() })),
  warnings: Type.Array(
    Type.String({ description: 'For example fields that members do not have, which were ignored.' }),
  ),
})

type MemberRouteParts = { members: MemberAdder; stageRegistry: StageRegistry }

/** Public API: adds members to a group. */
export function memberRoutes({ members, stageRegistry }: MemberRouteParts): FastifyPluginAsyncTypebox {
  const bodies = stageRegistry.stage('bodies of members', 'client', largeBodies)
  return async (api) => {
    // Kept as bytes, because large bodies are parsed in a task process.
    api.removeContentTypeParser('application/json')
    api.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    api.post('/contacts/add-group-members', {
      bodyLimit: bodyBytesMax,
      config: { permission: 'contacts:write', bodyTimeoutMs },
      preParsing: async (request, reply) => {
        const bytes = Number(request.headers['content-length'] ?? bodyBytesMax)
        if (bytes <= smallBytesMax || bytes > bodyBytesMax) return
        const release = await bodies.acquire(keyOf(request).organizationId, bytes)
        // It was closed meanwhile, and does not emit `close` again.
        if (reply.raw.destroyed) release()
        else reply.raw.once('close', release)
      },
      schema: {
        tags: ['Public API'],
        operationId: 'addGroupMembers',
        summary: 'Add members to a group',
        description:
          'Valid members are stored even if others are rejected; if none is valid, the response is 422. Omitted fields keep their value. A member that occurs twice counts once, and its later fields win. Unsubscribed contacts stay unsubscribed. Creates contacts that do not exist yet and adds all of them to the group. A request has 1 to 10,000 members and at most 16 MiB. The request can be repeated safely. `rejected` lists the members that were not stored, by their index in the request.',
        errors: {
          not_found: 'The group does not exist. Nothing was stored.',
          validation_failed: 'No member is valid, or the request has no or too many members.',
        },
        body: Type.Object({
          group_id: Type.String(),
          members: Type.Array(MemberIn, { minItems: 1, maxItems: membersMax }),
        }),
        response: answers(AddedOut),
      },
      // The schema serves as documentation only. Members are validated one by one, so that an invalid one does not
      // fail the request.
      validatorCompiler: () => () => true,
      handler: async (request) => {
        const { organizationId, id } = keyOf(request)
        const added = await members.add(organizationId, bytesOf(request.body), { type: 'api_key', id })
        return ok({
          group_id: toText('grp', added.groupId),
          received: added.received,
          created: added.created,
          updated: added.updated,
          added: added.added,
          already_members: added.alreadyMembers,
          rejected: added.rejected.map(({ index, email, ...rest }) => ({ index, email, problem: sentenceOf(rest) })),
          warnings: warningsAbout(added.unknownFields),
        })
      },
    })
  }
}

function warningsAbout(unknownFields: readonly string[]): string[] {
  if (unknownFields.length === 0) return []
  const suggestions = unknownFields
    .map((name) => similarField(name, [...memberFields]))
    .filter((name) => name !== undefined)
  const hint = suggestions.length > 0 ? ` Did you mean ${[...new Set(suggestions)].join(', ')}?` : ''
  const names = unknownFields.slice(0, unknownFieldsMax).map((name) => name.slice(0, nameMax))
  const others = unknownFields.length > unknownFieldsMax ? ' and others' : ''
  return [`Unknown fields of members were ignored: ${names.join(', ')}${others}.${hint}`]
}

const bytesOf = (body: unknown): Buffer => (Buffer.isBuffer(body) ? body : Buffer.from('null'))
