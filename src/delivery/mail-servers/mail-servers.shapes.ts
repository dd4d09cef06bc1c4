import { Type } from 'typebox'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { type FieldsOf, fieldsIn, outOf } from '../../platform/http/out-of.ts'
import { nameMax } from '../../platform/values/names.ts'
import type { MailServer } from './mail-server.ts'
import { presets } from './preset-list.ts'
import { findPreset } from './presets.ts'
import type { WebhookAddresses } from './webhook-addresses.ts'

// The shapes of mail servers in requests and responses.

const Kind = oneOf('transactional', 'marketing')
const Security = {
  ...oneOf('tls', 'starttls', 'opportunistic', 'none'),
  description:
    'The encryption: `tls` from the first byte (usually port 465), `starttls` required, `opportunistic` (used if offered, the certificate is not checked), or `none`.',
}
const mostConnections =
  'The most connections at the same time of one `waxwing start` or `waxwing work`. It shares them with its sending processes; each of them uses at least one.'
const PresetId = oneOf(...presets.map(({ id }) => id))

export const MailServerOut = Named('MailServer', {
  id: Type.String(),
  name: Type.String(),
  preset: Nullable(Type.String({ description: 'The known provider, if it is one.' })),
  host: Type.String(),
  port: Type.Integer(),
  security: Security,
  username: Nullable(Type.String({ description: 'Null without one, and if it is the same secret as the password.' })),
  auth: {
    ...oneOf('none', 'password', 'oauth2'),
    description: 'How Waxwing signs in. The password, client secret and refresh token are never returned.',
  },
  is_shared: Type.Boolean({
    description:
      'Whether it also carries email of other organizations: of those that have no mail server for an email. Only for the operator.',
  }),
  kinds: Type.Array(Kind, { description: 'The kinds of email that it carries.' }),
  from_domains: Type.Array(Type.String(), {
    description: 'Carries only email from these domains. Empty: from all domains.',
  }),
  priority: Type.Integer({ description: 'Lower is tried first.' }),
  weight: Type.Integer({ description: 'The share among mail servers with the same priority.' }),
  connections: Type.Integer({ description: mostConnections }),
  messages_per_second: Nullable(Type.Number({ description: 'The most emails per second.' })),
  messages_per_day: Nullable(Type.Integer({ description: 'The most emails per day, in UTC.' })),
  shape_by_receiver: Type.Boolean({ description: 'Whether the limits of receiving sites apply to its email.' }),
  status: {
    ...oneOf('untested', 'working', 'failing'),
    description:
      'The result of the last test or the last emails. Email goes through other mail servers while it fails.',
  },
  failure: Nullable(Type.String({ description: 'Why it fails.' })),
  failing_since: Nullable(Timestamp),
  next_try_at: Nullable({ ...Timestamp, description: 'When a failing mail server is tried again.' }),
  tested_at: Nullable({ ...Timestamp, description: 'When the connection was last tested.' }),
  webhook_url: Nullable(
    Type.String({
      description:
        'The address to enter at the provider, so that it reports bounces and complaints. Keep it secret. Null if its reports are not supported, and for a shared mail server unless you are an owner of the organization of the operator.',
    }),
  ),
  has_webhook_secret: Type.Boolean(),
  sends_account_emails: Type.Boolean({
    description:
      'Whether it may carry emails with links that sign in, such as password resets and invitations: it is shared, or an owner was the last to change how it connects. An owner who enters the credentials again allows it.',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const ConnectionTestOut = Named('MailServerTest', {
  ok: Type.Boolean(),
  steps: Type.Array(
    Named('MailServerTestStep', {
      step: oneOf('resolve', 'connect', 'tls', 'greeting', 'ehlo', 'auth', 'quit'),
      ok: Type.Boolean(),
      detail: Type.String({ description: 'What the mail server answered, or what is wrong and what to do.' }),
    }),
    { description: 'In the order in which they were taken. The last one failed unless `ok`.' },
  ),
})

export const SettingsTestOut = Named('MailServerSettingsTest', {
  ...ConnectionTestOut.properties,
  test_token: Nullable(
    Type.String({
      description: 'For adding a mail server with these settings within an hour. Null if the connection does not work.',
    }),
  ),
})

const secret = (description: string) =>
  Type.String({ minLength: 1, maxLength: 4_096, description: `${description} Stored encrypted, and never returned.` })

export const OAuthIn = Named('MailServerOAuth', {
  client_id: Type.String({ minLength: 1, maxLength: 1_024, description: 'The id of the registered application.' }),
  client_secret: secret('The secret of the client.'),
  refresh_token: secret('The token that the user of the mailbox has granted to the client.'),
  token_url: Type.Optional(
    Type.String({
      maxLength: 2_048,
      description: 'Where access tokens are requested. Known for the presets of Microsoft and Google.',
    }),
  ),
  scope: Type.Optional(Nullable(Type.String({ maxLength: 1_024, description: 'Requested with each access token.' }))),
})

const connectionFields = {
  url: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4_096,
      description:
        'As SMTP_URL, such as `smtp://user:password@smtp.example.com:587`. Instead of host, port, security, user name and password. Stored encrypted, and never returned.',
    }),
  ),
  preset: Type.Optional(
    Nullable({
      ...PresetId,
      description: 'A known provider. Fills in host, port and security where they are omitted.',
    }),
  ),
  host: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Such as `smtp.example.com`.' })),
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, description: '25, 465, 587, 2465, 2525 or 2587. Usually 587.' }),
  ),
  security: Type.Optional(Security),
  username: Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 1_024, description: 'Null to connect without signing in.' })),
  ),
  password: Type.Optional(secret('The password of the user name.')),
  oauth: Type.Optional(
    Type.Unsafe<FieldsIn>({ ...OAuthIn, description: 'Signs in with OAuth 2 (XOAUTH2) instead of a password.' }),
  ),
}
type FieldsIn = Type.Static<typeof OAuthIn>

const routingFields = {
  is_shared: Type.Optional(
    Type.Boolean({
      description:
        'Also carries email of organizations that have no mail server for it. Only owners of the organization of the operator can set it. Default: false.',
    }),
  ),
  kinds: Type.Optional(
    Type.Array(Kind, {
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
      description: 'The kinds of email. Default: both.',
    }),
  ),
  from_domains: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 100,
      description: 'Carries only email from these domains. Default: from all domains.',
    }),
  ),
  priority: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000, description: 'Lower is tried first. Default: 10.' }),
  ),
  weight: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'The share among mail servers with the same priority. Default: 100.',
    }),
  ),
  connections: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: `${mostConnections} Default: 5.` })),
  messages_per_second: Type.Optional(
    Nullable(
      Type.Number({ minimum: 0.01, maximum: 10_000, description: 'The most emails per second. Default: no limit.' }),
    ),
  ),
  messages_per_day: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 1,
        maximum: 100_000_000,
        description: 'The most emails per day, in UTC. Default: no limit.',
      }),
    ),
  ),
  shape_by_receiver: Type.Optional(
    Type.Boolean({
      description:
        'Whether the limits of receiving sites apply to its email. For a mail server of your own that delivers to the receivers itself; providers do this for you. Default: false.',
    }),
  ),
}

const webhook = {
  webhook_secret: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description:
          'Verifies the reports of the provider: the verification key of SendGrid, the signing key of Mailgun, the password in the webhook URL of Postmark, or the topic ARN of Amazon SNS. Stored encrypted, and never returned.',
      }),
    ),
  ),
}

const name = Type.String({ minLength: 1, maxLength: nameMax, description: 'A label.' })
export const ConnectionIn = Type.Object(connectionFields)
export const MailServerIn = Type.Object({
  name,
  ...connectionFields,
  ...routingFields,
  ...webhook,
  test_token: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description:
        'From a test of the same settings within the last hour: the mail server then counts as tested. Otherwise it has no effect.',
    }),
  ),
})
export const MailServerChangesIn = Type.Object({
  name: Type.Optional(name),
  ...connectionFields,
  ...routingFields,
  ...webhook,
})

export type ConnectionInput = FieldsOf<typeof ConnectionIn>
export type MailServerInput = FieldsOf<typeof MailServerIn>
export type MailServerChanges = FieldsOf<typeof MailServerChangesIn>

export const toConnectionInput = fieldsIn(ConnectionIn)
export const toInput = fieldsIn(MailServerIn)
export const toChanges = fieldsIn(MailServerChangesIn)

const toOut = outOf(
  MailServerOut,
  { id: 'mse' },
  {
    webhook_url: ({ webhookUrl }: { webhookUrl: string | null }) => webhookUrl,
    sends_account_emails: ({ isShared, isSetByOwner }: MailServer) => isShared || isSetByOwner,
  },
)

export function mailServerOut(
  server: MailServer,
  addresses: WebhookAddresses,
  { showsAddress }: { showsAddress: boolean },
) {
  const webhookUrl = showsAddress && findPreset(server.preset)?.provider ? addresses.addressOf(server) : null
  return toOut({ ...server, webhookUrl })
}

export const PresetOut = Named('MailServerPreset', {
  id: Type.String(),
  name: Type.String(),
  hosts: Type.Array(
    Named('MailServerPresetHost', {
      host: Type.String(),
      label: Type.String(),
      kinds: Type.Array(Kind, { description: 'The kinds of email that the provider accepts there.' }),
    }),
    { description: 'The hosts to choose from, such as regions. The first one is the default.' },
  ),
  hosts_title: Type.String({ description: 'What the hosts differ in, such as `Region`.' }),
  port: Type.Integer(),
  security: Security,
  username: Nullable(Type.String({ description: 'The user name, if it is the same for everyone.' })),
  username_hint: Type.String(),
  password_hint: Type.String(),
  username_is_password: Type.Boolean({
    description: 'Whether the user name is the same secret as the password. Then pass the password only.',
  }),
  oauth: Nullable(
    Named(
      'MailServerPresetOAuth',
      { token_url: Type.String(), scope: Nullable(Type.String()) },
      {
        description: 'Where access tokens are requested, if the provider supports OAuth 2.',
      },
    ),
  ),
  webhook_provider: Nullable(
    Type.String({
      description: 'Whose reports of bounces are supported, if any: `ses`, `sendgrid`, `mailgun` or `postmark`.',
    }),
  ),
  note: Type.String({ description: 'What to know before it works.' }),
})

export const presetsOut = presets.map(
  ({ oauth, provider, hosts, hostsTitle, usernameHint, passwordHint, usernameIsPassword = false, ...preset }) => ({
    ...preset,
    hosts: hosts.map(({ host, label, kinds = ['transactional', 'marketing'] }) => ({ host, label, kinds: [...kinds] })),
    hosts_title: hostsTitle ?? 'Region',
    username_is_password: usernameIsPassword,
    username_hint: usernameHint,
    password_hint: passwordHint,
    oauth: oauth && { token_url: oauth.tokenUrl, scope: oauth.scope },
    webhook_provider: provider,
  }),
)
