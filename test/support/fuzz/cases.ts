import { createHmac } from 'node:crypto'
import { newId } from '../../../src/platform/values/ids.ts'
import type { Seeded } from '../seeded.ts'
import type { Victim } from '../victim.ts'
import { bounceEmail, csv, liquid, mjml, smtpLines } from './texts.ts'
import { hostileText, hostileValue, mutate, type Schema, valueFor } from './values.ts'

export const mailgunKey = 'key-fuzz'
export const postmarkToken = 'postmark-fuzz'

export type HttpCase = { kind: 'http'; method: string; path: string; headers: Record<string, string>; body?: string }
type SmtpCase = { kind: 'smtp'; lines: string[] }
type RawCase = { kind: 'raw'; bytes: string }
export type FuzzCase = HttpCase | SmtpCase | RawCase

type Parameter = { name: string; in: string; schema?: Schema }
type Operation = {
  method: string
  path: string
  security: string | undefined
  parameters: Parameter[]
  body: Schema | undefined
}

type Document = {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: Parameter[]
        security?: Record<string, unknown>[]
        requestBody?: { content: Record<string, { schema?: Schema }> }
      }
    >
  >
}

/** These would end the session that all other requests need, or change its password. */
const excluded = /\/me\/|sign-?out|sessions|\/members\/\{id\}$/

export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(() => !excluded.test(path))
      .map(([method, { parameters = [], security = [], requestBody }]) => ({
        method: method.toUpperCase(),
        path,
        parameters,
        security: Object.keys(security[0] ?? {})[0],
        body: requestBody?.content['application/json']?.schema,
      })),
  )
}

/** Existing ids by the preceding path segment. */
export type KnownIds = Record<string, string[]>

export type FuzzContext = { victim: Victim; operations: Operation[]; ids: KnownIds }

const credentials = ({ attacker }: Victim, security: string | undefined): Record<string, string> =>
  security === 'apiKey'
    ? { 'x-api-token': attacker.apiKey }
    : security === 'session'
      ? { authorization: `Bearer ${attacker.session}` }
      : {}

function fillPath(path: string, ids: KnownIds, random: Seeded): string {
  return path.replace(/([^/]+)\/\{[^}]+\}/g, (_, folder: string) => {
    const known =
      ids[folder]?.length && random.chance(0.7) ? random.pick(ids[folder]) : hostileText(random).slice(0, 500)
    return `${folder}/${encodeURIComponent(wellFormed(known))}`
  })
}

function apiCase({ victim, operations, ids }: FuzzContext, random: Seeded): HttpCase {
  const operation = random.pick(operations)
  const wildness = random.pick([0, 0.05, 0.3])
  const query = operation.parameters
    .filter(({ in: where }) => where === 'query' && random.chance(0.6))
    .map(
      ({ name, schema }) =>
        `${name}=${encodeURIComponent(wellFormed(String(valueFor(schema, random, wildness))).slice(0, 3_000))}`,
    )
  const headers: Record<string, string> = { ...credentials(victim, operation.security) }
  if (random.chance(0.2)) headers['idempotency-key'] = headerText(random)
  if (random.chance(0.1))
    headers[
      random.pick([
        'accept',
        'user-agent',
        'x-forwarded-for',
        'content-type',
        'if-none-match',
        'range',
        'cookie',
        'x-request-id',
        'origin',
      ])
    ] = headerText(random)
  const path = `${fillPath(operation.path, ids, random)}${query.length > 0 ? `?${query.join('&')}` : ''}`
  const built: HttpCase = { kind: 'http', method: operation.method, path, headers }
  if (!operation.body) return built
  const value = withIds(valueFor(operation.body, random, wildness), ids, random)
  const text = JSON.stringify(value) ?? ''
  return {
    ...built,
    headers: { 'content-type': 'application/json', ...headers },
    body: random.chance(0.1) ? mutate(text, random) : text,
  }
}

const wellFormed = (text: string) => Buffer.from(text).toString()
const headerText = (random: Seeded) =>
  hostileText(random)
    .replace(/[^\x20-\x7e\x80-\xff]/g, '?')
    .slice(0, 2_000)

/** Fills id fields with existing ids, so that requests do not all end with a 404. */
function withIds(value: unknown, ids: KnownIds, random: Seeded): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const fields = Object.entries(value).map(([name, field]) => {
    const known = ids[`${name.replace(/_ids?$/, '')}s`]
    if (!known?.length || random.chance(0.2)) return [name, field]
    return [name, Array.isArray(field) ? [random.pick(known)] : random.pick(known)]
  })
  return Object.fromEntries(fields)
}

function templateCase({ victim }: FuzzContext, random: Seeded): HttpCase {
  const isMjml = random.chance(0.4)
  const body = JSON.stringify({
    name: 'Fuzz',
    kind: 'transactional',
    subject: random.chance(0.5) ? liquid(random, 3) : 'x',
    html: isMjml ? mjml(random) : liquid(random),
    ...(isMjml && { html_format: 'mjml' }),
    ...(random.chance(0.3) && { text: liquid(random, 2) }),
    context: random.chance(0.5) ? { a: hostileValue(random), x: [1, 2] } : {},
  })
  const path = `/api/v1/organization/flows${random.chance(0.8) ? '/preview' : ''}`
  return {
    kind: 'http',
    method: 'POST',
    path,
    headers: { ...credentials(victim, 'session'), 'content-type': 'application/json' },
    body,
  }
}

function importCase({ victim }: FuzzContext, random: Seeded): HttpCase {
  const headers = { ...credentials(victim, 'session'), 'content-type': 'text/csv' }
  return { kind: 'http', method: 'POST', path: '/api/v1/organization/contacts/import', headers, body: csv(random) }
}

function trackingCase({ victim }: FuzzContext, random: Seeded): HttpCase {
  const ids = {
    organizationId: victim.attacker.organizationId,
    messageId: newId('msg'),
    contactId: newId('con'),
    flowId: newId('flw'),
  }
  const [folder, token] = random.pick([
    ['t/o', victim.tokens.sign('email', ids)],
    ['t/c', victim.tokens.sign('click', { ...ids, url: 'https://example.com/' })],
    [`t/c/${victim.tokens.sign('email', ids)}`, victim.tokens.signDestination(ids, { url: 'https://example.com/' })],
    ['u', victim.tokens.sign('unsubscribe_link', ids)],
  ] as const)
  const changed = random.chance(0.5) ? encodeURIComponent(wellFormed(mutate(token, random)).slice(0, 6_000)) : token
  const method = random.pick(['GET', 'HEAD', 'POST', 'PUT'])
  const headers = {
    'user-agent': headerText(random),
    'content-type': random.pick(['application/x-www-form-urlencoded', 'application/json', 'text/plain']),
  }
  return {
    kind: 'http',
    method,
    path: `/${folder}/${changed}`,
    headers,
    ...(method === 'POST' && { body: hostileText(random).slice(0, 5_000) }),
  }
}

function providerCase(_context: FuzzContext, random: Seeded): HttpCase {
  const provider = random.pick(['ses', 'sendgrid', 'mailgun', 'postmark'])
  const timestamp = String(Math.floor(Date.now() / 1000))
  const token = random
    .int(0, 2 ** 31)
    .toString(16)
    .padStart(50, '0')
  const signature = createHmac('sha256', mailgunKey)
    .update(timestamp + token)
    .digest('hex')
  const bodies: Record<string, unknown> = {
    postmark: {
      RecordType: random.pick(['Bounce', 'SpamComplaint', 'constructor', 'Open']),
      Type: 'HardBounce',
      Email: hostileText(random),
      MessageID: hostileText(random),
      Metadata: hostileValue(random),
    },
    mailgun: {
      signature: { timestamp, token, signature },
      'event-data': random.chance(0.5)
        ? hostileValue(random)
        : {
            event: random.pick(['failed', 'complained', 'constructor']),
            severity: 'permanent',
            message: hostileValue(random),
            'delivery-status': hostileValue(random),
            timestamp: hostileValue(random),
          },
    },
    sendgrid: [{ event: 'bounce', email: hostileText(random) }],
    ses: {
      Type: random.pick(['constructor', 'Notification', '__proto__', 'SubscriptionConfirmation']),
      Message: hostileText(random),
      TopicArn: hostileText(random),
    },
  }
  const text = JSON.stringify(random.chance(0.2) ? hostileValue(random) : bodies[provider]) ?? ''
  const headers: Record<string, string> = { 'content-type': random.pick(['application/json', 'text/plain']) }
  if (provider === 'postmark')
    headers.authorization = `Basic ${Buffer.from(`postmark:${postmarkToken}`).toString('base64')}`
  return {
    kind: 'http',
    method: 'POST',
    path: `/providers/${provider}/events`,
    headers,
    body: random.chance(0.2) ? mutate(text, random) : text,
  }
}

const bounceAddress = ({ victim }: FuzzContext) =>
  `${victim.tokens.sign('bounce', { organizationId: victim.attacker.organizationId, messageId: newId('msg') })}@${victim.bounceDomain}`

function mimeCase(context: FuzzContext, random: Seeded): SmtpCase {
  const to = bounceAddress(context)
  const mail = bounceEmail(to, random).replace(/^\./gm, '..')
  return { kind: 'smtp', lines: ['EHLO a', 'MAIL FROM:<>', `RCPT TO:<${to}>`, 'DATA', `${mail}\r\n.`, 'QUIT'] }
}

const smtpCase = (context: FuzzContext, random: Seeded): SmtpCase => ({
  kind: 'smtp',
  lines: [...smtpLines(bounceAddress(context), random), 'QUIT'],
})

function rawCase(_context: FuzzContext, random: Seeded): RawCase {
  const request = `POST /api/v1/auth/login?a=%zz HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${random.pick(['', 'Transfer-Encoding: chunked\r\n', 'Expect: 100-continue\r\n', 'Upgrade: h2c\r\nConnection: Upgrade\r\n'])}\r\n{}`
  return { kind: 'raw', bytes: mutate(request, random) }
}

const makers: [number, (context: FuzzContext, random: Seeded) => FuzzCase][] = [
  [40, apiCase],
  [20, templateCase],
  [4, importCase],
  [10, trackingCase],
  [8, providerCase],
  [10, mimeCase],
  [4, smtpCase],
  [4, rawCase],
]

/** Returns the case of a seed. The same seed yields the same case, except for ids, which differ in every run. */
export function makeCase(context: FuzzContext, random: Seeded): FuzzCase {
  let at = random.int(
    1,
    makers.reduce((sum, [weight]) => sum + weight, 0),
  )
  for (const [weight, make] of makers) {
    at -= weight
    if (at <= 0) return make(context, random)
  }
  return apiCase(context, random)
}
