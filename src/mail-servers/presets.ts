import type { Security } from './mail-server.ts'

/** The providers whose reports of bounces and complaints are understood. */
export type ReportProvider = 'ses' | 'sendgrid' | 'mailgun' | 'postmark'

export type Preset = {
  id: string
  name: string
  /** The first one is the default. */
  hosts: { host: string; label: string }[]
  port: number
  security: Security
  /** The user name, if it is the same for everyone. */
  username: string | null
  usernameHint: string
  passwordHint: string
  /** Where access tokens are requested, and for what, if the provider supports OAuth 2. */
  oauth: { tokenUrl: string; scope: string | null } | null
  provider: ReportProvider | null
  /** What to know before it works, in a sentence or two. */
  note: string
}

const sesRegions: Record<string, string> = {
  'us-east-1': 'US East (N. Virginia)',
  'us-east-2': 'US East (Ohio)',
  'us-west-1': 'US West (N. California)',
  'us-west-2': 'US West (Oregon)',
  'ca-central-1': 'Canada (Central)',
  'eu-central-1': 'Europe (Frankfurt)',
  'eu-west-1': 'Europe (Ireland)',
  'eu-west-2': 'Europe (London)',
  'eu-west-3': 'Europe (Paris)',
  'eu-south-1': 'Europe (Milan)',
  'eu-north-1': 'Europe (Stockholm)',
  'ap-northeast-1': 'Asia Pacific (Tokyo)',
  'ap-northeast-2': 'Asia Pacific (Seoul)',
  'ap-northeast-3': 'Asia Pacific (Osaka)',
  'ap-southeast-1': 'Asia Pacific (Singapore)',
  'ap-southeast-2': 'Asia Pacific (Sydney)',
  'ap-southeast-3': 'Asia Pacific (Jakarta)',
  'ap-south-1': 'Asia Pacific (Mumbai)',
  'sa-east-1': 'South America (São Paulo)',
  'af-south-1': 'Africa (Cape Town)',
  'me-south-1': 'Middle East (Bahrain)',
  'il-central-1': 'Israel (Tel Aviv)',
}

const starttls = { port: 587, security: 'starttls' } as const
const implicitTls = { port: 465, security: 'tls' } as const
const passwordOnly = { oauth: null, provider: null }
const only = (host: string) => [{ host, label: host }]

/** Known providers, so that only the credentials have to be entered. */
export const presets: readonly Preset[] = [
  {
    id: 'amazon_ses',
    name: 'Amazon SES',
    hosts: Object.entries(sesRegions).map(([region, label]) => ({
      host: `email-smtp.${region}.amazonaws.com`,
      label: `${label}, ${region}`,
    })),
    ...starttls,
    username: null,
    usernameHint: 'SMTP user name, starts with AKIA',
    passwordHint: 'SMTP password',
    oauth: null,
    provider: 'ses',
    note: 'Create SMTP credentials in the SES console; they differ from access keys and belong to one region. New accounts can send only to verified addresses until production access is granted.',
  },
  {
    id: 'sendgrid',
    name: 'SendGrid',
    hosts: [
      { host: 'smtp.sendgrid.net', label: 'Global' },
      { host: 'smtp.eu.sendgrid.net', label: 'European Union' },
    ],
    ...starttls,
    username: 'apikey',
    usernameHint: 'Always apikey',
    passwordHint: 'API key, starts with SG.',
    oauth: null,
    provider: 'sendgrid',
    note: 'The user name is the word apikey, and the password is an API key with the permission to send mail.',
  },
  {
    id: 'mailgun',
    name: 'Mailgun',
    hosts: [
      { host: 'smtp.mailgun.org', label: 'United States' },
      { host: 'smtp.eu.mailgun.org', label: 'European Union' },
    ],
    ...starttls,
    username: null,
    usernameHint: 'postmaster@mg.example.com',
    passwordHint: 'SMTP password',
    oauth: null,
    provider: 'mailgun',
    note: 'Use the SMTP credentials of your domain, in the region in which the domain was added.',
  },
  {
    id: 'postmark',
    name: 'Postmark',
    hosts: [
      { host: 'smtp.postmarkapp.com', label: 'Transactional stream' },
      { host: 'smtp-broadcasts.postmarkapp.com', label: 'Broadcast stream' },
    ],
    ...starttls,
    username: null,
    usernameHint: 'Server API token',
    passwordHint: 'The same server API token',
    oauth: null,
    provider: 'postmark',
    note: 'User name and password are both the server API token. Marketing email must use the broadcast stream.',
  },
  {
    id: 'brevo',
    name: 'Brevo',
    hosts: only('smtp-relay.brevo.com'),
    ...starttls,
    ...passwordOnly,
    username: null,
    usernameHint: 'The SMTP login shown by Brevo',
    passwordHint: 'SMTP key, starts with xsmtpsib-',
    note: 'Create an SMTP key under SMTP & API. It differs from an API key.',
  },
  {
    id: 'mailjet',
    name: 'Mailjet',
    hosts: only('in-v3.mailjet.com'),
    ...starttls,
    ...passwordOnly,
    username: null,
    usernameHint: 'API key',
    passwordHint: 'Secret key',
    note: 'The user name is the API key, and the password is the secret key.',
  },
  {
    id: 'sparkpost',
    name: 'SparkPost',
    hosts: [
      { host: 'smtp.sparkpostmail.com', label: 'United States' },
      { host: 'smtp.eu.sparkpostmail.com', label: 'European Union' },
    ],
    ...starttls,
    ...passwordOnly,
    username: 'SMTP_Injection',
    usernameHint: 'Always SMTP_Injection',
    passwordHint: 'API key with the permission Send via SMTP',
    note: 'The password is an API key with the permission Send via SMTP, of the region of your account.',
  },
  {
    id: 'smtp2go',
    name: 'SMTP2GO',
    hosts: [
      { host: 'mail.smtp2go.com', label: 'Nearest' },
      { host: 'mail-eu.smtp2go.com', label: 'European Union' },
      { host: 'mail-us.smtp2go.com', label: 'United States' },
    ],
    ...starttls,
    ...passwordOnly,
    username: null,
    usernameHint: 'SMTP user',
    passwordHint: 'Password of the SMTP user',
    note: 'Add an SMTP user under Sending. Its password differs from that of your account.',
  },
  {
    id: 'resend',
    name: 'Resend',
    hosts: only('smtp.resend.com'),
    ...implicitTls,
    ...passwordOnly,
    username: 'resend',
    usernameHint: 'Always resend',
    passwordHint: 'API key, starts with re_',
    note: 'The user name is the word resend, and the password is an API key.',
  },
  {
    id: 'scaleway',
    name: 'Scaleway Transactional Email',
    hosts: only('smtp.tem.scaleway.com'),
    ...starttls,
    ...passwordOnly,
    username: null,
    usernameHint: 'Project ID',
    passwordHint: 'Secret key of an API key',
    note: 'The user name is the ID of the project, and the password is the secret key of an API key.',
  },
  {
    id: 'mailersend',
    name: 'MailerSend',
    hosts: only('smtp.mailersend.net'),
    ...starttls,
    ...passwordOnly,
    username: null,
    usernameHint: 'SMTP user of the domain',
    passwordHint: 'SMTP password',
    note: 'Generate an SMTP user in the settings of your domain.',
  },
  {
    id: 'elastic_email',
    name: 'Elastic Email',
    hosts: only('smtp.elasticemail.com'),
    port: 2525,
    security: 'starttls',
    ...passwordOnly,
    username: null,
    usernameHint: 'ada@example.com',
    passwordHint: 'SMTP password',
    note: 'Create SMTP credentials in the settings. The user name is your address.',
  },
  {
    id: 'mailtrap',
    name: 'Mailtrap',
    hosts: [
      { host: 'live.smtp.mailtrap.io', label: 'Transactional stream' },
      { host: 'bulk.smtp.mailtrap.io', label: 'Bulk stream' },
    ],
    ...starttls,
    ...passwordOnly,
    username: 'api',
    usernameHint: 'Always api',
    passwordHint: 'API token',
    note: 'The user name is the word api, and the password is the API token of the sending domain.',
  },
  {
    id: 'mandrill',
    name: 'Mailchimp Transactional (Mandrill)',
    hosts: only('smtp.mandrillapp.com'),
    ...starttls,
    ...passwordOnly,
    username: null,
    usernameHint: 'The name of your account',
    passwordHint: 'API key',
    note: 'The password is an API key. Any user name is accepted.',
  },
  {
    id: 'zeptomail',
    name: 'Zoho ZeptoMail',
    hosts: [
      { host: 'smtp.zeptomail.com', label: 'United States' },
      { host: 'smtp.zeptomail.eu', label: 'European Union' },
      { host: 'smtp.zeptomail.in', label: 'India' },
    ],
    ...starttls,
    ...passwordOnly,
    username: 'emailapikey',
    usernameHint: 'Always emailapikey',
    passwordHint: 'Send mail token',
    note: 'The password is the token of a mail agent. ZeptoMail does not accept marketing email.',
  },
  {
    id: 'microsoft_365',
    name: 'Microsoft 365',
    hosts: only('smtp.office365.com'),
    ...starttls,
    username: null,
    usernameHint: 'ada@example.com',
    passwordHint: 'App password',
    oauth: {
      tokenUrl: 'https://login.microsoftonline.com/organizations/oauth2/v2.0/token',
      scope: 'https://outlook.office.com/SMTP.Send offline_access',
    },
    provider: null,
    note: 'Use OAuth 2: Microsoft is switching off passwords. Authenticated SMTP must be enabled for the mailbox, and the From address must be one of the mailbox. If the app is registered for one tenant, write its id instead of organizations in the token URL.',
  },
  {
    id: 'google',
    name: 'Google Workspace or Gmail',
    hosts: [
      { host: 'smtp.gmail.com', label: 'Mailbox' },
      { host: 'smtp-relay.gmail.com', label: 'Workspace relay' },
    ],
    ...starttls,
    username: null,
    usernameHint: 'ada@example.com',
    passwordHint: 'App password, 16 letters',
    oauth: { tokenUrl: 'https://oauth2.googleapis.com/token', scope: null },
    provider: null,
    note: 'Use OAuth 2 or an app password, which needs 2-step verification; the password of the account is rejected. Google limits a mailbox to 500 or 2,000 recipients a day.',
  },
  {
    id: 'zoho',
    name: 'Zoho Mail',
    hosts: [
      { host: 'smtppro.zoho.com', label: 'Organization, United States' },
      { host: 'smtppro.zoho.eu', label: 'Organization, European Union' },
      { host: 'smtp.zoho.com', label: 'Personal, United States' },
      { host: 'smtp.zoho.eu', label: 'Personal, European Union' },
    ],
    ...implicitTls,
    ...passwordOnly,
    username: null,
    usernameHint: 'ada@example.com',
    passwordHint: 'App password',
    note: 'Use an application-specific password. The From address must be one of the mailbox.',
  },
  {
    id: 'fastmail',
    name: 'Fastmail',
    hosts: only('smtp.fastmail.com'),
    ...implicitTls,
    ...passwordOnly,
    username: null,
    usernameHint: 'ada@fastmail.com',
    passwordHint: 'App password',
    note: 'Use an app password with access to SMTP. The password of the account is rejected.',
  },
]

const byId = new Map(presets.map((preset) => [preset.id, preset]))

export const findPreset = (id: string | null): Preset | undefined => (id === null ? undefined : byId.get(id))
