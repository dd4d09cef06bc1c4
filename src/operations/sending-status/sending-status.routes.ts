import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { SmtpTarget } from '@waxwing/smtp-client'
import { Type } from 'typebox'
import { type Member, memberOf, personMay } from '../../accounts/accounts.ts'
import {
  type DkimSigner,
  findServerStates,
  type MailServers,
  type Senders,
  type ServerState,
} from '../../delivery/delivery.ts'
import type { Config } from '../../platform/config/config.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import { accepted, accepts, answers, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { toText } from '../../platform/values/ids.ts'
import { type EmailParts, type EmailSettings, mailboxText, submissionAddressOf } from '../../sending/sending.ts'
import { sendFirstEmail } from './first-email.ts'
import { findPause } from './sending-pause.ts'
import { findSendingQueue } from './sending-status.sql.ts'
import type { SendingStatus } from './sending-status.ts'
import { healthOf } from './setup.ts'

const queuedMax = 10_000

const forOperators = 'Only returned to owners of the organization that operates this installation.'

const SendingOut = Named('SendingStatus', {
  details: Type.Boolean({ description: 'Whether you can see and check the settings of the mail server.' }),
  transport: oneOf('inbox', 'smtp'),
  relay: Nullable(
    Type.Object(
      { host: Type.String(), port: Type.Integer(), secure: Type.Boolean(), user: Nullable(Type.String()) },
      { description: forOperators },
    ),
  ),
  mail_from: Type.String({ description: 'The sender of emails whose flow has none.' }),
  sender_domains: Nullable(
    Type.Array(Type.String(), {
      description:
        'Domains that the operator lets every organization send from, beside its verified ones. `*.example.com` stands for the subdomains. Null if every From address may be used.',
    }),
  ),
  mail_servers: Type.Array(
    Named('SendingMailServer', {
      id: Type.String(),
      name: Type.String(),
      status: oneOf('untested', 'working', 'failing'),
      failure: Nullable(Type.String()),
      next_try_at: Nullable(Timestamp),
    }),
    { description: 'The mail servers of the organization. Without any, that of the installation is used.' },
  ),
  state: {
    ...oneOf('ok', 'failing', 'unknown'),
    description: 'Of several mail servers of the organization: `failing` if all of them are.',
  },
  last_error: Nullable(
    Type.String({ description: `Of the mail server of the installation: ${forOperators.toLowerCase()}` }),
  ),
  next_attempt_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the unreachable mail server is retried.' }),
  ),
  paused_since: Nullable(
    Type.String({
      format: 'date-time',
      description:
        'Set while the operator has paused sending, or since a backup was restored: emails and webhooks are accepted and stay queued.',
    }),
  ),
  last_sent_at: Nullable(Timestamp),
  queued: Type.Integer({ description: `Pending emails. Counted up to ${queuedMax}.` }),
  dkim: Nullable(Type.Object({ domain: Type.String(), selector: Type.String() })),
  bounce_domain: Nullable(Type.String()),
  bounce_providers: Type.Array(Type.String(), { description: 'Providers that report bounces and complaints by HTTP.' }),
  submission: Nullable(
    Type.Object(
      {
        host: Type.String(),
        port: Nullable(Type.Integer({ description: 'With STARTTLS.' })),
        tls_port: Nullable(Type.Integer({ description: 'With TLS from the start.' })),
        encrypted: Type.Boolean({ description: 'If false, only programs on the same machine can connect.' }),
      },
      { description: 'The server through which programs send by SMTP with an API key. Null if it is disabled.' },
    ),
  ),
  records: Type.Array(
    Named('DnsRecord', {
      type: oneOf('TXT', 'MX'),
      name: Type.String(),
      value: Type.String(),
      purpose: oneOf('SPF', 'DKIM', 'DMARC', 'bounces'),
      status: oneOf('unchecked', 'found', 'missing', 'different'),
      found: Nullable(Type.String()),
    }),
  ),
  checked_at: Nullable(Timestamp),
})

export type SendingRouteParts = {
  config: Config
  read: BoundedRead
  sending: SendingStatus
  dkim: DkimSigner | undefined
  settings: EmailSettings
  bounceProviders: string[]
  senders: Senders
  servers: MailServers
  emails: EmailParts
}

export function sendingRoutes(parts: SendingRouteParts): FastifyPluginAsyncTypebox {
  return async (api) => {
    tagRoutes(api, 'Sending')
    api.get('/sending', {
      config: { permission: 'sending:read' },
      schema: {
        operationId: 'getSendingStatus',
        summary: 'Get the sending status',
        description: 'Details of the mail server are only returned to its operators.',
        response: answers(SendingOut),
      },
      handler: async (request) => ok(await sendingOut(parts, memberOf(request))),
    })

    api.post('/sending/check', {
      config: { permission: 'installation:write' },
      schema: {
        operationId: 'checkSending',
        summary: 'Check the mail server and the DNS records',
        description:
          'Only for owners of the organization that operates this installation. Connects to the mail server and looks up the DNS records. Takes up to a few seconds. Sends no email.',
        response: answers(SendingOut),
      },
      handler: async (request) => {
        await parts.sending.check()
        return ok(await sendingOut(parts, memberOf(request)))
      },
    })

    api.post('/sending/first-email', {
      config: { permission: 'sending:write' },
      schema: {
        operationId: 'sendFirstEmail',
        summary: 'Send an email to yourself',
        description:
          'Sends a short email from the given address to yours, to see that real email arrives. It is tracked and counted like other emails without a flow.',
        errors: { sender_not_verified: 'The sender is not in a verified domain.' },
        body: Type.Object({
          from: Type.Optional(
            Type.String({
              description: 'The sender, such as `hello@example.com`. Default: the default sender of the organization.',
            }),
          ),
        }),
        response: accepts(Named('FirstEmail', { message_id: Type.String() })),
      },
      handler: async (request, reply) => {
        const { organizationId, email: to } = memberOf(request)
        const from = request.body.from ?? mailboxText(await parts.senders.defaultOf(organizationId))
        const id = await sendFirstEmail(parts.emails, { organizationId, from, to, baseUrl: parts.settings.baseUrl })
        return reply.status(202).send(accepted({ message_id: toText('msg', id) }, 'Email accepted'))
      },
    })
  }
}

async function sendingOut(
  { config, read, sending, dkim, settings, bounceProviders, senders, servers }: SendingRouteParts,
  member: Member,
) {
  const { organizationId } = member
  const transport = await servers.transportOf(organizationId)
  const { queue, pause, states } = await read(organizationId, async (tx) => ({
    queue: await findSendingQueue(tx, organizationId, queuedMax),
    pause: await findPause(tx),
    states: await findServerStates(tx, organizationId),
  }))
  const { queued, lastSentAt } = queue
  const { state, lastError, nextTryAt } = healthOf(states) ?? sending.health(queue)
  const details = personMay(member, 'installation:read')
  return {
    details,
    transport,
    relay: details && sending.target ? relayOut(sending.target) : null,
    mail_from: mailboxText(await senders.defaultOf(organizationId)),
    sender_domains: config.REQUIRE_VERIFIED_DOMAINS ? [...config.ALLOWED_SENDER_DOMAINS] : null,
    mail_servers: states.map(serverOut),
    state,
    last_error: details || states.length > 0 ? lastError : null,
    next_attempt_at: nextTryAt?.toISOString() ?? null,
    paused_since: pause?.since.toISOString() ?? null,
    last_sent_at: lastSentAt?.toISOString() ?? null,
    queued,
    dkim: dkim ? { domain: dkim.domain, selector: dkim.selector } : null,
    bounce_domain: settings.bounceDomain ?? null,
    bounce_providers: bounceProviders,
    submission: submissionOut(config),
    records: details ? sending.records : [],
    checked_at: sending.checkedAt?.toISOString() ?? null,
  }
}

function submissionOut(config: Config) {
  const address = submissionAddressOf(config)
  if (!address) return null
  const { host, port, tlsPort, isPublic } = address
  return { host, port, tls_port: tlsPort, encrypted: isPublic }
}

const serverOut = ({ id, name, status, failure, nextTryAt }: ServerState) => ({
  id: toText('mse', id),
  name,
  status,
  failure,
  next_try_at: nextTryAt?.toISOString() ?? null,
})

/** Never includes the password. */
const relayOut = ({ host, port, tls, credentials }: SmtpTarget) => ({
  host,
  port,
  secure: tls === 'implicit' || tls === 'required',
  user: credentials?.user ?? null,
})
