import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { callerOf, may, memberOf, organizationIdOf, targetOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { answers, created, creates, IdParams, Nothing, ok } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import type { RateLimit } from '../../platform/runtime/rate-limit.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { MailServer } from './mail-server.ts'
import {
  ConnectionIn,
  ConnectionTestOut,
  MailServerChangesIn,
  MailServerIn,
  MailServerOut,
  mailServerOut,
  PresetOut,
  presetsOut,
  SettingsTestOut,
  toChanges,
  toConnectionInput,
  toInput,
} from './mail-servers.shapes.ts'
import { selectMailServers } from './mail-servers.sql.ts'
import { addMailServer, changeMailServer, getMailServer, type ManageParts, removeMailServer } from './manage.ts'
import type { ConnectionTest } from './test-connection.ts'
import { type TestParts, testMailServer, testSettings } from './test-mail-server.ts'
import type { WebhookAddresses } from './webhook-addresses.ts'

export type MailServerRouteParts = ManageParts &
  TestParts & {
    read: BoundedRead
    tests: Stage
    /** Tests of one organization, so that it cannot guess passwords or look for mail servers. */
    testLimit: RateLimit
    addresses: WebhookAddresses
  }

export function mailServerRoutes(parts: MailServerRouteParts): FastifyPluginAsyncTypebox {
  const { db, read, testLimit } = parts
  const out = (request: FastifyRequest, server: MailServer) =>
    mailServerOut(server, parts.addresses, { showsAddress: !server.isShared || may(request, 'installation:read') })
  /** Changes check it again on the locked row. */
  const isShared = async (request: FastifyRequest) => {
    if ((request.body as { is_shared?: unknown } | undefined)?.is_shared) return true
    // Only the operator has shared ones.
    if (!memberOf(request).organization.isOperator || !('id' in (request.params as object))) return false
    return (await getMailServer(db, ...targetOf(request, 'mse'))).isShared
  }
  const changing = { permission: 'mail_servers:write', ofInstallation: isShared } as const
  const test = <Result extends ConnectionTest>(organizationId: OrganizationId, run: () => Promise<Result>) => {
    testLimit.take(organizationId)
    return parts.tests.run(organizationId, run)
  }
  return async (api) => {
    tagRoutes(api, 'Mail servers')
    api.get('/mail-servers', {
      config: { permission: 'mail_servers:read' },
      schema: {
        operationId: 'listMailServers',
        summary: 'List mail servers',
        description: 'All mail servers, in the order in which they are tried. Credentials are never included.',
        response: answers(Type.Array(MailServerOut)),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const servers = await read(organizationId, (tx) => selectMailServers(tx, organizationId))
        return ok(servers.map((server) => out(request, server)))
      },
    })

    api.get('/mail-server-presets', {
      config: { permission: 'mail_servers:read' },
      schema: {
        operationId: 'listMailServerPresets',
        summary: 'List known providers of mail servers',
        description: 'Their hosts, ports and hints, so that only the credentials have to be entered.',
        response: answers(Type.Array(PresetOut)),
      },
      handler: async () => ok(presetsOut),
    })

    api.post('/mail-servers', {
      config: changing,
      schema: {
        operationId: 'createMailServer',
        summary: 'Add a mail server',
        description: `Email of the organization is sent through its mail servers, in the order of \`priority\`. Without any, it is sent as the operator has set it up. Pass either a \`url\`, or \`preset\` or \`host\` with \`username\` and \`password\` or \`oauth\`.

The host must not name a private, loopback or link-local address. An organization can have 20 mail servers.`,
        errors: {
          forbidden: '`is_shared` is true, and you are not an owner of the organization of the operator.',
          conflict: 'The organization already has 20 mail servers.',
          validation_failed: 'The URL, host, port or another setting is invalid.',
        },
        body: MailServerIn,
        response: creates(MailServerOut),
      },
      handler: async (request, reply) => {
        const server = await addMailServer(parts, callerOf(request), organizationIdOf(request), toInput(request.body))
        return reply.status(201).send(created(out(request, server)))
      },
    })

    api.get('/mail-servers/:id', {
      config: { permission: 'mail_servers:read' },
      schema: {
        operationId: 'getMailServer',
        summary: 'Get a mail server',
        description: 'With its status: the result of the last test or the last emails.',
        params: IdParams,
        response: answers(MailServerOut),
      },
      handler: async (request) => ok(out(request, await getMailServer(db, ...targetOf(request, 'mse')))),
    })

    api.patch('/mail-servers/:id', {
      config: changing,
      schema: {
        operationId: 'updateMailServer',
        summary: 'Update a mail server',
        description:
          'Omitted fields keep their value. The password or OAuth 2 client must be passed again if the host, port or encryption changes. After a change of the connection the status is `untested`, and the owners get an email. A shared mail server can be changed only by owners of the organization of the operator.',
        errors: {
          forbidden: sharedOnly,
          validation_failed: 'A setting is invalid, or the credentials must be entered again.',
        },
        params: IdParams,
        body: MailServerChangesIn,
        response: answers(MailServerOut),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'mse')
        const changes = toChanges(request.body)
        return ok(out(request, await changeMailServer(parts, callerOf(request), organizationId, id, changes)))
      },
    })

    api.post('/mail-servers/:id/test', {
      config: changing,
      schema: {
        operationId: 'testMailServer',
        summary: 'Test a mail server',
        description: `Connects and signs in, without sending an email, and returns each step of the dialogue. The last step says what to do if it fails. The response arrives within 15 seconds.

The status of the mail server becomes \`working\` or \`failing\`.`,
        errors: { ...testErrors, forbidden: sharedOnly },
        params: IdParams,
        response: answers(ConnectionTestOut),
      },
      handler: async (request) => {
        const [organizationId, id] = targetOf(request, 'mse')
        const server = await getMailServer(db, organizationId, id)
        return ok(await test(organizationId, () => testMailServer(parts, server)))
      },
    })

    api.post('/mail-servers/test', {
      config: { permission: 'mail_servers:write' },
      schema: {
        operationId: 'testMailServerSettings',
        summary: 'Test settings of a mail server',
        description:
          'Like the test of a mail server, with settings that are not stored. If it succeeds, pass `test_token` when you add the mail server, so that it counts as tested.',
        errors: { ...testErrors, validation_failed: 'The URL, host, port or another setting is invalid.' },
        body: ConnectionIn,
        response: answers(SettingsTestOut),
      },
      handler: async (request) => {
        const organizationId = organizationIdOf(request)
        const run = () => testSettings(parts, organizationId, toConnectionInput(request.body))
        const { testToken, ...result } = await test(organizationId, run)
        return ok({ ...result, test_token: testToken })
      },
    })

    api.delete('/mail-servers/:id', {
      config: changing,
      schema: {
        operationId: 'deleteMailServer',
        summary: 'Delete a mail server',
        description:
          'Its credentials are deleted. Emails that wait for it are sent through the other mail servers. This cannot be undone.',
        errors: { forbidden: sharedOnly },
        params: IdParams,
        response: answers(Nothing),
      },
      handler: async (request) => {
        await removeMailServer(parts, callerOf(request), ...targetOf(request, 'mse'))
        return ok(null, 'Mail server deleted')
      },
    })
  }
}

const testErrors = { rate_limited: 'Too many requests, or too many tests of the organization are in progress.' }

const sharedOnly = 'The mail server is or becomes shared, and you are not an owner of the organization of the operator.'
