import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { domainLabels } from '../values/domain.ts'
import { SetupFault } from '../values/errors.ts'
import { parseEnvFile, strayNames } from './env-file.ts'

/** One setting: what people read about it, and how its text becomes a value. `parse` throws a sentence. */
type Setting<Value> = { meaning: string; fallback: string | undefined; secret?: true; parse: (text: string) => Value }

const setting = <Value>(fallback: string, meaning: string, parse: (text: string) => Value): Setting<Value> => ({
  meaning,
  fallback,
  parse,
})
const optional = <Value>(
  meaning: string,
  parse: (text: string) => Value,
  extra: { secret?: true } = {},
): Setting<Value | undefined> => ({ meaning, fallback: undefined, parse, ...extra })

/** Every setting there is. Nothing else in the service reads the environment. */
export const settings = {
  PORT: setting('3000', 'Where it listens.', wholeNumber(0, 65_535)),
  HOST: setting('127.0.0.1', 'The address it listens on; 0.0.0.0 for all.', text),
  WORK_PORT: optional(
    'Where `waxwing work` answers /health, /ready and /metrics, on HOST; nowhere when unset.',
    wholeNumber(0, 65_535),
  ),
  BASE_URL: optional('The public address in links; http://localhost:PORT when unset.', baseUrl),
  TRUST_PROXY: setting(
    'false',
    'true behind a reverse proxy: the client address is the last one in X-Forwarded-For, which the proxy has to add.',
    flag,
  ),
  DATABASE_URL: optional('Any PostgreSQL 15 or newer; the embedded one in DATA_DIR when unset.', databaseUrl, {
    secret: true,
  }),
  DATABASE_CONNECTIONS: setting(
    '10',
    'Connections to the database, per process; one more listens for news.',
    wholeNumber(3, 200),
  ),
  DATA_DIR: setting('./data', 'Embedded database, generated secret, spooled hits.', (path) => resolve(path)),
  APP_SECRET: optional(
    'Signs tokens and JWTs, encrypts webhook secrets; generated once into DATA_DIR when unset.',
    secret,
    {
      secret: true,
    },
  ),
  APP_SECRET_PREVIOUS: optional('The secret before: what it signed or encrypted is still understood.', secret, {
    secret: true,
  }),
  SMTP_URL: optional(
    'The relay, e.g. smtp://user:pass@relay:587; mail lands in the built-in inbox when unset.',
    smtpUrl,
    {
      secret: true,
    },
  ),
  SMTP_CONNECTIONS: setting('10', 'Connections to the relay, per process.', wholeNumber(1, 200)),
  MAIL_FROM: setting('hello@localhost', 'The sender of flows that name none.', text),
  ALLOWED_SENDER_DOMAINS: setting(
    '',
    'Domains that flows may send from, comma-separated; `*.example.com` allows the subdomains of example.com. Enforced while REQUIRE_VERIFIED_DOMAINS is true.',
    senderDomains,
  ),
  REQUIRE_VERIFIED_DOMAINS: optional(
    'true: flows may send only from ALLOWED_SENDER_DOMAINS and the address in MAIL_FROM. Defaults to true if SIGNUP is open, otherwise false.',
    flag,
  ),
  NEW_ORGANIZATION_DAILY_MESSAGES: setting(
    '1000',
    'Messages that an organization registered through open sign-up may send in any 24 hours of its first 14 days; 0 = no limit. Applies only with SMTP_URL.',
    wholeNumber(0, 1_000_000),
  ),
  MAIL_RETRY_DELAYS: setting('60,300,900,3600,14400', 'Seconds between tries when the relay defers a mail.', seconds),
  DKIM_DOMAIN: optional('Signs mail by DKIM for this domain; needs the next two.', domain),
  DKIM_SELECTOR: optional('The DKIM selector.', text),
  DKIM_PRIVATE_KEY_FILE: optional('The PEM file with the DKIM key.', text),
  BOUNCE_SMTP_PORT: optional('SMTP listener for bounces and complaints; off when unset.', wholeNumber(0, 65_535)),
  BOUNCE_SMTP_HOST: setting('0.0.0.0', 'The address the bounce listener listens on.', text),
  BOUNCE_DOMAIN: optional('The domain of the envelope sender; its MX must lead to the bounce listener.', domain),
  BOUNCE_TLS_CERT_FILE: optional('Certificate (PEM) that lets the bounce listener offer STARTTLS.', text),
  BOUNCE_TLS_KEY_FILE: optional('Its private key (PEM).', text),
  WEBHOOK_RETRY_DELAYS: setting('30,60,120', 'Seconds between attempts of a webhook delivery.', seconds),
  WEBHOOK_TIMEOUT_MS: setting('10000', 'Wall clock for one webhook attempt.', wholeNumber(10, 60_000)),
  WEBHOOK_CONCURRENCY: setting('16', 'Requests under way at once to one endpoint.', wholeNumber(1, 1000)),
  WEBHOOK_ALLOW_PRIVATE: setting('false', 'true: http and private addresses too (development, tests).', flag),
  WEBHOOK_PROXY_URL: optional('Egress proxy for webhooks; it then has to keep them out of the network.', httpUrl, {
    secret: true,
  }),
  WEBHOOK_CA_FILE: optional('Further certificate authorities (PEM) that endpoints may use.', text),
  WEBHOOK_LOG_DAYS: setting('30', 'Days for which deliveries and their attempts are kept.', wholeNumber(1, 3650)),
  EVENT_RETENTION_MONTHS: setting(
    '0',
    'Months for which single events are kept; 0 = for ever. Counters stay.',
    wholeNumber(0, 1200),
  ),
  TEMPLATE_CPU_MS: setting(
    '20',
    'CPU time that the template of one email may use, in milliseconds, estimated from the work it does.',
    wholeNumber(5, 1000),
  ),
  TASK_PROCESSES: setting(
    '2',
    'Child processes for CPU-heavy work such as compiling templates. One organization uses at most half of them.',
    wholeNumber(2, 64),
  ),
  RATE_LIMIT_PER_SECOND: setting('500', 'Requests per second and API key; 0 = no limit.', wholeNumber(0, 1_000_000)),
  RATE_LIMIT_SESSION_PER_SECOND: setting(
    '100',
    'Requests per second and user of the management API, ten times as many at once; 0 = no limit.',
    wholeNumber(0, 1_000_000),
  ),
  RATE_LIMIT_SIGN_IN_PER_MINUTE: setting(
    '60',
    'Requests per minute and client address to register, log in and accept invitations; 0 = no limit.',
    wholeNumber(0, 1_000_000),
  ),
  RATE_LIMIT_PAGES_PER_SECOND: setting(
    '50',
    'Requests per second and client address to unsubscribe pages, API reference and web app, ten times as many at once; 0 = no limit.',
    wholeNumber(0, 1_000_000),
  ),
  HTTP_CONNECTIONS: setting('10000', 'Open HTTP connections per process; more are closed.', wholeNumber(10, 1_000_000)),
  SIGNUP: setting('first-user', '`open` lets anyone register an organization.', oneOf('first-user', 'open')),
  LOG_LEVEL: setting(
    'info',
    'fatal, error, warn, info, debug, trace or silent.',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  PROVIDER_SES_TOPICS: optional('Amazon SNS topic ARNs whose events are believed, comma-separated.', list),
  PROVIDER_SENDGRID_KEY: optional('SendGrid’s public verification key.', text),
  PROVIDER_MAILGUN_KEY: optional('Mailgun’s HTTP webhook signing key.', text, { secret: true }),
  PROVIDER_POSTMARK_TOKEN: optional('The password set in Postmark’s webhook address (basic auth).', text, {
    secret: true,
  }),
} as const

type Parsed = { readonly [Name in keyof typeof settings]: (typeof settings)[Name] extends Setting<infer V> ? V : never }
export type Config = Omit<Parsed, 'BASE_URL' | 'REQUIRE_VERIFIED_DOMAINS'> & {
  readonly BASE_URL: string
  readonly REQUIRE_VERIFIED_DOMAINS: boolean
}
export type SettingName = keyof typeof settings

/** All faults at once, each naming its setting. */
export class ConfigError extends SetupFault {
  constructor(faults: string[]) {
    super(`The settings are not right:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

export type Environment = Record<string, string | undefined>

export function readConfig(environment: Environment): Config {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { fallback, parse }] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    // An empty value is a setting left out, as in `SMTP_URL= npm start`.
    const given = environment[name]?.trim() || fallback
    try {
      values[name] = given === undefined ? undefined : parse(given)
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`)
    }
  }
  faults.push(...partialGroups(values))
  if (faults.length > 0) throw new ConfigError(faults)
  values.BASE_URL ??= `http://localhost:${values.PORT}`
  values.REQUIRE_VERIFIED_DOMAINS ??= values.SIGNUP === 'open'
  return Object.freeze(values) as unknown as Config
}

/** Settings that mean something only together. */
const groups: SettingName[][] = [
  ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_PRIVATE_KEY_FILE'],
  ['BOUNCE_SMTP_PORT', 'BOUNCE_DOMAIN'],
  ['BOUNCE_TLS_CERT_FILE', 'BOUNCE_TLS_KEY_FILE'],
]

function partialGroups(values: Record<string, unknown>): string[] {
  return groups.flatMap((names) => {
    const missing = names.filter((name) => values[name] === undefined)
    if (missing.length === 0 || missing.length === names.length) return []
    return [
      `${missing.join(' and ')}: needed too, since ${names.filter((name) => !missing.includes(name)).join(' and ')} is set`,
    ]
  })
}

/** What `.env` in the working directory says, and the process environment, which counts more. */
export function readSources(folder = process.cwd()): { file: Environment; given: Environment } {
  const file = resolve(folder, '.env')
  return { file: existsSync(file) ? parseEnvFile(readFileSync(file, 'utf8')) : {}, given: process.env }
}

export function readEnvironment(): Environment {
  const { file, given } = readSources()
  return { ...file, ...given }
}

/** Of `.env` alone: the process environment is full of names that are none of ours. */
export const readStrayNames = (): string[] => strayNames(readSources().file, Object.keys(settings))

/** What `waxwing config` prints: every setting with its value, where it came from, and its meaning. */
export function describeConfig(config: Config, { file, given }: { file: Environment; given: Environment }) {
  return (Object.entries(settings) as [SettingName, Setting<unknown>][]).map(([name, { meaning, secret: hidden }]) => {
    const value = config[name]
    const shown =
      value === undefined ? '(unset)' : hidden ? '********' : Array.isArray(value) ? value.join(',') : String(value)
    const source = given[name] === undefined ? '.env' : 'environment'
    return { name, value: shown, source: (given[name] ?? file[name])?.trim() ? source : 'default', meaning }
  })
}

function text(value: string): string {
  return value
}

function list(value: string): readonly string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
}

function flag(value: string): boolean {
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw new Error(`must be true or false, not "${value}"`)
}

function wholeNumber(min: number, max: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!Number.isInteger(number) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}, not "${value}"`)
    return number
  }
}

function seconds(value: string): readonly number[] {
  const parts = value.split(',').map((part) => part.trim())
  const numbers = parts.map(Number)
  if (parts.includes('') || numbers.length > 20 || numbers.some((number) => !(number >= 0 && number <= 604_800)))
    throw new Error(`must be up to 20 numbers of seconds separated by commas, not "${value}"`)
  return numbers
}

function oneOf<const Values extends readonly string[]>(...values: Values) {
  return (value: string): Values[number] => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}, not "${value}"`)
    return value
  }
}

function urlWith(schemes: string[], example: string) {
  return (value: string): URL => {
    if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol))
      throw new Error(`must be an address such as ${example}`)
    return new URL(value)
  }
}

function httpUrl(value: string): string {
  return urlWith(['http:', 'https:'], 'https://mail.example.com')(value).href.replace(/\/+$/, '')
}

/** Paths are added to it, so nothing may follow its own. */
function baseUrl(value: string): string {
  const url = httpUrl(value)
  const { username, password } = new URL(url)
  if (/[?#]/.test(url) || username || password)
    throw new Error('must end with its host or path, without ?, # or a password')
  return url
}

/** As mail servers write it: ASCII, in lower case, without the dot at the end. */
function domain(value: string): string {
  const labels = domainLabels(value.replace(/\.$/, '')) ?? []
  const domain = labels.join('.')
  const isName = labels.length > 1 ? !/^\d+$/.test(labels.at(-1)!) : domain === 'localhost'
  if (!isName) throw new Error(`must be a domain such as mail.example.com, not "${value}"`)
  return domain
}

/** `example.com` or `*.example.com`, each in the form of `domain`. */
function senderDomains(value: string): readonly string[] {
  return list(value).map((item) => (item.startsWith('*.') ? `*.${domain(item.slice(2))}` : domain(item)))
}

function smtpUrl(value: string): string {
  return urlWith(['smtp:', 'smtps:'], 'smtp://user:pass@relay.example.com:587')(value).href
}

const beforeNoHost = /^(\w+:\/\/(?:[^/?#]*@)?)(?=[:/])/

/**
 * psql also takes an address without a host that names it as a parameter. No URL may have a user or a port but no host, so
 * one is put there; the parameter goes before it.
 */
function databaseUrl(value: string): string {
  const host = new URLSearchParams(value.split('?')[1]).get('host')
  const url = host && !URL.canParse(value) ? value.replace(beforeNoHost, '$1localhost') : value
  urlWith(['postgres:', 'postgresql:'], 'postgres://user:pass@host:5432/waxwing')(url)
  return url
}

function secret(value: string): string {
  if (value.length < 32) throw new Error('must have at least 32 characters')
  return value
}
