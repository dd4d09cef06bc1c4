import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  answers,
  created,
  creates,
  IdParams,
  Named,
  Nothing,
  Nullable,
  ok,
  oneOf,
  Timestamp,
} from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { type ApiKey, selectApiKeys } from './api-keys.sql.ts'
import { createApiKey, deleteApiKey } from './api-keys.ts'
import { keyOf, memberOf } from './guards.ts'
import type { KeyCache } from './key-cache.ts'
import { scopes } from './scopes.ts'
import { CreatorOut, creatorOut } from './shapes.ts'

const ScopeOut = oneOf(...scopes)
const ApiKeyOut = Named('ApiKey', {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters, to identify the key.' }),
  scopes: Type.Array(ScopeOut),
  public_only: Type.Boolean({ description: 'Whether the key can call the public API only.' }),
  unconfirmed: Type.Boolean({
    description:
      'Whether the key came with an imported organization and does not work until the operator of the installation confirms the import.',
  }),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
  created_by: CreatorOut,
})

type ApiKeyRouteParts = { db: Db; read: BoundedRead; keys: KeyCache }

export function apiKeyRoutes({ db, read, keys }: ApiKeyRouteParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'API keys')
    api.get('/api-keys', {
      config: { permission: 'api_keys:read' },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description:
          'Newest first, without revoked keys. The keys themselves are not stored; `prefix` identifies a key.',
        response: answers(Type.Array(ApiKeyOut)),
      },
      handler: async (request) => ok((await read(memberOf(request).organizationId, selectApiKeys)).map(apiKeyOut)),
    })

    api.post('/api-keys', {
      config: { permission: 'api_keys:write' },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description:
          'The `api_key` is only returned in this response. Give each program its own key with the scopes it needs, so that it can be revoked without affecting others. An organization can have 100 keys. Only people who may start broadcasts can create a key with `broadcasts:send`, and it works as long as its creator is a member with that permission.',
        errors: {
          conflict: 'The organization already has 100 keys.',
          forbidden: 'The caller may not start broadcasts, and `scopes` contains `broadcasts:send`.',
        },
        body: Type.Object({
          name: Type.String({ minLength: 1, maxLength: 200 }),
          scopes: Type.Optional(
            Type.Array(ScopeOut, {
              minItems: 1,
              maxItems: 20,
              description:
                'Without scopes, the key can call the public API only, with `contacts:write`, `flows:send` and `analytics:read`.',
            }),
          ),
        }),
        response: creates(Named('CreatedApiKey', { ...ApiKeyOut.properties, api_key: Type.String() })),
      },
      handler: async (request, reply) => {
        const { record, key } = await createApiKey(db, memberOf(request), {
          name: request.body.name,
          scopes: request.body.scopes,
        })
        return reply.status(201).send(created({ ...apiKeyOut(record), api_key: key }))
      },
    })

    api.delete('/api-keys/:id', {
      config: { permission: 'api_keys:write' },
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description:
          'The key stops working immediately in this process and within two seconds in all others. This cannot be undone.',
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        const id = parseIdParam('key', request.params.id)
        await deleteApiKey(db, memberOf(request).organizationId, id)
        keys.forget(id)
        return ok(null, 'API key revoked')
      },
    })
  }
}

/** Public API: checks an API key and returns its organization. */
export function tokenCheckRoutes(): FastifyPluginAsyncTypebox {
  const TokenOut = Type.Object({
    code: Type.Literal(200),
    status: Type.Literal('success'),
    message: Type.String(),
    organization_id: Type.String(),
    data: Type.Object({
      organization_id: Type.String(),
      organization_name: Type.String(),
      scopes: Type.Array(ScopeOut),
    }),
  })
  return async (api) => {
    api.get('/token/check', {
      config: { permission: 'apiKey' },
      schema: {
        tags: ['Public API'],
        operationId: 'checkToken',
        summary: 'Check an API key',
        description:
          'Use it to verify a configured key, for example when a program starts. Any valid key can call it. `organization_id` is returned at both places.',
        response: { ...answers(Nothing), 200: TokenOut },
      },
      handler: async (request) => {
        const key = keyOf(request)
        const organizationId = toText('org', key.organizationId)
        return {
          ...ok(
            { organization_id: organizationId, organization_name: key.organizationName, scopes: key.scopes },
            'The key is valid',
          ),
          organization_id: organizationId,
        }
      },
    })
  }
}

const apiKeyOut = outOf(
  ApiKeyOut,
  { id: 'key' },
  {
    prefix: ({ hint }: ApiKey) => hint,
    unconfirmed: ({ isHeld }: ApiKey) => isHeld,
    created_by: ({ createdBy, createdByEmail }: ApiKey) => creatorOut(createdBy, createdByEmail),
  },
)
