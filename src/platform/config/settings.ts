import { resolve } from 'node:path'
import {
  baseUrl,
  bucketName,
  contactUri,
  databaseUrl,
  dnsServers,
  domain,
  flag,
  httpUrl,
  list,
  oneOf,
  passphrase,
  seconds,
  secret,
  senderDomains,
  smtpUrl,
  text,
  wholeNumber,
} from './setting-values.ts'

/** A setting: its description, its default, and its parser, which throws an `Error` with the problem. */
export type Setting<Value> = {
  meaning: string
  fallback: string | undefined
  secret?: true
  /** The name of an earlier version, which still works. */
  formerly?: string
  parse: (text: string) => Value
}

const setting = <Value>(fallback: string, meaning: string, parse: (text: string) => Value): Setting<Value> => ({
  meaning,
  fallback,
  parse,
})
const optional = <Value>(
  meaning: string,
  parse: (text: string) => Value,
  extra: { secret?: true; formerly?: string } = {},
): Setting<Value | undefined> => ({ meaning, fallback: undefined, parse, ...extra })

/** All settings. No other code reads the environment. */
export const settings = {
  PORT: setting('3000', 'HTTP port.', wholeNumber(0, 65_535)),
  HOST: setting('127.0.0.1', 'Address to listen on. 0.0.0.0 listens on all interfaces.', text),
  WORK_PORT: optional(
    'Port on which `waxwing work` serves /health, /ready and /metrics. Disabled if unset.',
    wholeNumber(0, 65_535),
  ),
  METRICS_PORT: optional(
    'Port of its own for /metrics, for scrapers. Disabled if unset; do not publish it.',
    wholeNumber(0, 65_535),
  ),
  METRICS_HOST: setting('127.0.0.1', 'Address METRICS_PORT listens on.', text),
  METRICS_TOKEN: optional(
    'Bearer token that /metrics requires on every port. If unset, PORT serves /metrics only on localhost while BASE_URL is localhost.',
    secret,
    { secret: true },
  ),
  BASE_URL: optional(
    'Public URL used in links. If unset, the one that an operator enters in the web app, or else http://localhost:PORT.',
    baseUrl,
  ),
  TRUST_PROXY: setting(
    'false',
    'Set to true behind a reverse proxy. The client address is then the last entry of X-Forwarded-For, which the proxy must append, and the host the last one of X-Forwarded-Host.',
    flag,
  ),
  DATABASE_URL: optional(
    'PostgreSQL 15 or newer. If unset, an embedded PostgreSQL stores its data in DATA_DIR.',
    databaseUrl,
    { secret: true },
  ),
  DATABASE_DIRECT_URL: optional(
    'The database in DATABASE_URL without the connection pooler, used for notifications, migrations and backups. Set it if DATABASE_URL is the address of a pooler such as PgBouncer.',
    databaseUrl,
    { secret: true },
  ),
  DATABASE_CONNECTIONS: setting(
    '10',
    'Database connections per process. One additional connection listens for notifications.',
    wholeNumber(3, 200),
  ),
  DATA_DIR: setting('./data', 'Directory for the embedded database, the generated secret and spooled hits.', (path) =>
    resolve(path),
  ),
  APP_SECRET: optional(
    'Signs tokens and sessions and encrypts webhook secrets. If unset, a secret is generated once in DATA_DIR.',
    secret,
    { secret: true },
  ),
  APP_SECRET_PREVIOUS: optional('Previous APP_SECRET. Still accepted for verifying and decrypting.', secret, {
    secret: true,
  }),
  BACKUP_PASSPHRASE: optional(
    'Encrypts and decrypts backups. If unset, use `--passphrase-stdin`, or backups are not encrypted.',
    passphrase,
    { secret: true },
  ),
  EGRESS_ALLOW_PRIVATE: {
    ...setting(
      'false',
      'If true, calls to addresses that users enter (webhooks, exports, link checks, mail servers) may use http, any port and private addresses. For development and tests.',
      flag,
    ),
    formerly: 'WEBHOOK_ALLOW_PRIVATE',
  },
  EGRESS_PROXY_URL: optional(
    'Proxy for calls to addresses that users enter. The proxy must then block private addresses.',
    httpUrl,
    { secret: true, formerly: 'WEBHOOK_PROXY_URL' },
  ),
  EGRESS_CA_FILE: optional('PEM file with additional certificate authorities for these calls.', text, {
    formerly: 'WEBHOOK_CA_FILE',
  }),
  SMTP_URL: optional(
    'Mail server (SMTP), for example smtp://user:pass@smtp.example.com:587. If unset, emails are kept in the built-in inbox.',
    smtpUrl,
    { secret: true },
  ),
  SMTP_CONNECTIONS: setting(
    '10',
    'SMTP connections of `waxwing start` or `work`, including its sending processes.',
    wholeNumber(1, 200),
  ),
  SMTP_SHAPING: setting(
    'false',
    'If true, the email through SMTP_URL is limited for each receiving provider. Use it with a mail server of your own that delivers to the receivers itself.',
    flag,
  ),
  SENDING_PROCESSES: optional(
    'Child processes of `waxwing start` and `work` that send broadcasts, at a lower priority. If unset, one less than the cores of the machine, at most 4. 0 sends them in the process itself.',
    wholeNumber(0, 16),
  ),
  MAIL_FROM: setting('hello@localhost', 'Sender of flows without a sender of their own.', text),
  ALLOWED_SENDER_DOMAINS: setting(
    '',
    'Domains that flows may send from, separated by commas. `*.example.com` allows the subdomains of example.com. Enforced if REQUIRE_VERIFIED_DOMAINS is true.',
    senderDomains,
  ),
  REQUIRE_VERIFIED_DOMAINS: optional(
    'If true, an organization may send only from its verified domains, ALLOWED_SENDER_DOMAINS and the address in MAIL_FROM. Defaults to true if SIGNUP is open, otherwise to false.',
    flag,
  ),
  NEW_ORGANIZATION_DAILY_MESSAGES: setting(
    '1000',
    'Messages per 24 hours during the first 14 days of an organization registered through open sign-up. 0 means no limit. Applies only if SMTP_URL is set.',
    wholeNumber(0, 1_000_000),
  ),
  MAIL_RETRY_DELAYS: setting(
    '60,300,900,3600,14400',
    'Seconds between attempts to send an email that the mail server defers.',
    seconds,
  ),
  DNS_SERVERS: optional(
    'Addresses of name servers, separated by commas, for example 127.0.0.1:5353. Asked for the records of domains instead of the name servers of each domain.',
    dnsServers,
  ),
  DKIM_DOMAIN: optional(
    'Signs emails with DKIM for this domain. Requires DKIM_SELECTOR and DKIM_PRIVATE_KEY_FILE.',
    domain,
  ),
  DKIM_SELECTOR: optional('DKIM selector.', text),
  DKIM_PRIVATE_KEY_FILE: optional('PEM file with the DKIM private key.', text),
  BOUNCE_SMTP_PORT: optional(
    'Port of the SMTP listener for bounces and complaints. Disabled if unset.',
    wholeNumber(0, 65_535),
  ),
  BOUNCE_SMTP_HOST: setting('0.0.0.0', 'Address the bounce listener listens on.', text),
  BOUNCE_DOMAIN: optional('Domain of the envelope sender. Its MX record must point to the bounce listener.', domain),
  BOUNCE_TLS_CERT_FILE: optional('PEM file with a certificate. Enables STARTTLS in the bounce listener.', text),
  BOUNCE_TLS_KEY_FILE: optional('PEM file with the private key of BOUNCE_TLS_CERT_FILE.', text),
  SUBMISSION_PORT: optional(
    'Port on which programs send email by SMTP with STARTTLS, usually 587. The password is an API key. Disabled if unset.',
    wholeNumber(0, 65_535),
  ),
  SUBMISSION_TLS_PORT: optional(
    'Like SUBMISSION_PORT, with TLS from the start, usually 465. Requires a certificate.',
    wholeNumber(0, 65_535),
  ),
  SUBMISSION_HOST: optional(
    'Address the ports for submission listen on. 0.0.0.0 if unset and there is a certificate. Without a certificate, only addresses of this machine such as 127.0.0.1, the default, are possible.',
    text,
  ),
  SUBMISSION_TLS_CERT_FILE: optional(
    'PEM file with the certificate of the ports for submission. Read again when it is replaced.',
    text,
  ),
  SUBMISSION_TLS_KEY_FILE: optional('PEM file with the private key of SUBMISSION_TLS_CERT_FILE.', text),
  IMAGES_S3_ENDPOINT: optional(
    'Address of S3-compatible storage for the images of emails, for example https://s3.eu-central-1.amazonaws.com. If unset, images are stored in the database.',
    baseUrl,
  ),
  IMAGES_S3_REGION: setting('us-east-1', 'Region of IMAGES_S3_BUCKET.', text),
  IMAGES_S3_BUCKET: optional('Bucket for images. It must not be public: Waxwing serves the images.', bucketName),
  IMAGES_S3_ACCESS_KEY_ID: optional('Access key of IMAGES_S3_BUCKET.', text),
  IMAGES_S3_SECRET_ACCESS_KEY: optional('Secret of IMAGES_S3_ACCESS_KEY_ID.', text, { secret: true }),
  WEBHOOK_RETRY_DELAYS: setting('30,60,120', 'Seconds between attempts to deliver a webhook.', seconds),
  WEBHOOK_TIMEOUT_MS: setting('10000', 'Timeout of one webhook attempt in milliseconds.', wholeNumber(10, 60_000)),
  WEBHOOK_LOG_DAYS: setting('30', 'Days to keep deliveries and their attempts.', wholeNumber(1, 3650)),
  EVENT_RETENTION_MONTHS: setting(
    '0',
    'Months to keep individual events. 0 keeps them indefinitely. Counters are always kept.',
    wholeNumber(0, 1200),
  ),
  RATE_LIMIT_PER_SECOND: setting(
    '500',
    'Requests per second and API key. 0 means no limit.',
    wholeNumber(0, 1_000_000),
  ),
  SECURITY_CONTACT: optional(
    'Email address or https URL for reports of vulnerabilities, published in /.well-known/security.txt.',
    contactUri,
  ),
  SIGNUP: setting(
    'first-user',
    'Who may register an organization: only the first user, or anyone (`open`).',
    oneOf('first-user', 'open'),
  ),
  SIGNUPS_PER_HOUR: setting(
    '10',
    'Organizations that may be registered from one client address (for IPv6, from one /64 network) in an hour. 0 means no limit.',
    wholeNumber(0, 1_000_000),
  ),
  LOG_LEVEL: setting(
    'info',
    'fatal, error, warn, info, debug, trace or silent.',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  PROVIDER_SES_TOPICS: optional('ARNs of the Amazon SNS topics to accept events from, separated by commas.', list),
  PROVIDER_SENDGRID_KEY: optional('Public verification key of SendGrid.', text),
  PROVIDER_MAILGUN_KEY: optional('HTTP webhook signing key of Mailgun.', text, { secret: true }),
  PROVIDER_POSTMARK_TOKEN: optional(
    'Password in the webhook URL configured at Postmark (basic authentication).',
    text,
    { secret: true },
  ),
} as const

/** Settings of earlier versions that are not used any more, with what applies now. */
export const removedSettings: Record<string, string> = {
  DATABASE_REPLICA_URL: 'everything is read from the database in DATABASE_URL',
}

/** The heading of a group of settings, by its first one. */
export const settingGroups: Partial<Record<string, string>> = {
  PORT: 'Service',
  DATABASE_URL: 'Database and secrets',
  EGRESS_ALLOW_PRIVATE: 'Calls to addresses that users enter',
  SMTP_URL: 'Sending',
  BOUNCE_SMTP_PORT: 'Bounces over SMTP',
  SUBMISSION_PORT: 'SMTP submission',
  IMAGES_S3_ENDPOINT: 'Images',
  WEBHOOK_RETRY_DELAYS: 'Webhooks and events',
  RATE_LIMIT_PER_SECOND: 'Accounts and operation',
  PROVIDER_SES_TOPICS: 'Reports of email providers',
}
