import { readFileSync } from 'node:fs'
import { lint, loadConfig } from '@redocly/openapi-core'
import { expect, test } from 'vitest'
import { documentOf } from '../src/operations/documentation/api-document.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

/** Sent to every operation; `call` checks the responses against the document. */
const bodies = [
  undefined,
  {},
  [],
  'text',
  { name: '', email: 'x', members: 'none', since: 'yesterday', event_types: [] },
]

function asCaller(app: TestApp, path: string): Record<string, string> {
  return path.startsWith('/public') ? { 'x-api-token': app.apiKey } : { authorization: `Bearer ${app.session}` }
}

type Operation = { operationId?: string; security?: object[] }

/** All operations with their entries in the served document. */
async function operationsOf(app: TestApp): Promise<(Operation & { method: string; path: string })[]> {
  const { paths } = (await app.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>
  }
  return app.openapi.operations().map((one) => ({ ...paths[one.path]![one.method.toLowerCase()], ...one }))
}

test('every operation responds as documented: without a credential, to invalid input, and for unknown ids', async () => {
  await using app = await startTestApp()
  const operations = await operationsOf(app)
  expect(operations.length).toBeGreaterThan(8)
  for (const { method, path, security } of operations) {
    const url = path.replace(/\{[^}]+\}/g, 'nothing')
    const stranger = await app.call(method, url)
    expect([method, path, stranger.status === 401]).toEqual([method, path, security?.length !== 0])
    for (const body of method === 'GET' || method === 'DELETE' ? [undefined] : bodies) {
      const answer = await app.call(method, url, { headers: asCaller(app, path), body })
      expect(answer.status, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`).toBeLessThan(500)
    }
  }
})

test('every operation has a unique name, and those of the SDK have the names of its methods', async () => {
  await using app = await startTestApp()
  const operations = await operationsOf(app)
  const names = operations.map(({ operationId }) => operationId)

  for (const name of names) expect(name).toMatch(/^[a-z][a-zA-Z]+$/)
  expect(new Set(names).size).toBe(names.length)
  const ofSdk = operations.filter(({ path }) => path.startsWith('/public/')).map(({ operationId }) => operationId!)
  expect(ofSdk.sort()).toEqual([
    'addGroupMembers',
    'cancelEmail',
    'cancelEmailForAll',
    'checkToken',
    'getEmail',
    'getEmailEventMetric',
    'readEvents',
    'rescheduleEmail',
    'sendEmail',
    'sendEmailThroughFlow',
    'sendEmails',
  ])
  expect(names).toEqual(
    expect.arrayContaining([
      'getHealth',
      'getMe',
      'listWebhooks',
      'getWebhook',
      'rotateWebhookSecret',
      'replayDelivery',
    ]),
  )
})

type Described = {
  description?: string
  type?: string | string[]
  format?: string
  properties?: Record<string, Described>
  items?: Described
  oneOf?: Described[]
  anyOf?: Described[]
  $ref?: string
}
type Documented = {
  operationId: string
  parameters?: (Described & {
    name: string
    schema: Described & { minimum?: number; maximum?: number; maxLength?: number }
  })[]
  requestBody?: { content: Record<string, { schema?: Described }> }
  responses: Record<string, Described>
}

type Schemas = Record<string, Described>
const resolved = (schema: Described | undefined, schemas: Schemas) =>
  schema?.$ref ? schemas[schema.$ref.split('/').at(-1)!] : schema

function namesWithoutDescription(schema: Described | undefined, schemas: Schemas): string[] {
  const { properties = {}, items = [], oneOf = [], anyOf = [] } = resolved(schema, schemas) ?? {}
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      ...(property.description || property.$ref ? [] : [name]),
      ...namesWithoutDescription(property.$ref?.endsWith('/ContactFilter') ? {} : property, schemas),
    ]),
    ...[items, oneOf, anyOf].flat().flatMap((part) => namesWithoutDescription(part, schemas)),
  ]
}

test('every parameter, request property and response is described, with the type that the service accepts', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { paths, components } = (await app.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Documented>>
    components: { schemas: Schemas }
  }
  const missing: string[] = []
  const add = (...parts: string[]) => missing.push(parts.join(' '))
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { operationId, parameters = [], requestBody, responses } = operation
    for (const { name, description, schema } of parameters) {
      if (!description) add(operationId, name)
      // A stream of events is not a page.
      const limitMax = operationId === 'readEvents' ? 100_000 : 100
      if (name === 'limit' && !(schema.type === 'integer' && schema.minimum === 1 && schema.maximum === limitMax))
        add(operationId, 'limit is no integer')
      if (['machine', 'exact', 'is_test', 'has_header'].includes(name) && schema.type !== 'boolean')
        add(operationId, name, 'is no boolean')
      if (name.endsWith('_date') && schema.format !== 'date') add(operationId, name, 'is no date')
    }
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      for (const name of namesWithoutDescription(schema, components.schemas)) add(operationId, name)
      const { send_at: sendAt, since, contact_email: email } = resolved(schema, components.schemas)?.properties ?? {}
      for (const time of [sendAt, since]) if (time && time.format !== 'date-time') add(operationId, 'has no time')
      if (email && email.format !== 'email') add(operationId, 'has no email address')
    }
    for (const [status, { description, $ref }] of Object.entries(responses))
      if (!$ref && (!description || description === 'Default Response')) add(operationId, status)
  }
  expect(missing).toEqual([])
})

test('the document avoids what code generators cannot handle', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { text, body } = await app.call('GET', '/openapi.json')
  // Null is a type of its own only beside a reference.
  expect(text.replaceAll(/\[\{"\$ref":"[^"]+"\},\{"type":"null"\}\]/g, '')).not.toContain('"type":"null"')
  expect(text).not.toMatch(/"\$ref":"#\/components\/schemas\/\w+\/[^"]+"/)
  const { schemas, responses } = body.components
  const { mapping } = schemas.ContactFilter.discriminator
  expect(Object.values(mapping)).toEqual(schemas.ContactFilter.oneOf.map(({ $ref }: { $ref: string }) => $ref))
  expect(mapping.engagement).toBe('#/components/schemas/EngagementCondition')
  for (const name of Object.keys(responses)) expect(text).toContain(`"#/components/responses/${name}"`)
  for (const { post } of Object.values(body.webhooks as Record<string, { post: object }>))
    expect(post).toMatchObject({ security: [] })
})

/** Returns every schema and other object of a document with its path. */
function* objectsIn(value: unknown, path = ''): Generator<[path: string, object: Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  yield [path, value as Record<string, unknown>]
  for (const [key, part] of Object.entries(value)) yield* objectsIn(part, `${path}/${key}`)
}

const committedDocument = () => JSON.parse(readFileSync('docs/openapi.json', 'utf8'))

test('schemas have one type besides null, no constants, and names that do not collide in generated code', () => {
  const document = committedDocument()
  const wrong: string[] = []
  for (const [path, { type, const: constant }] of objectsIn(document)) {
    if (path.includes('/example') || path.endsWith('/properties')) continue
    if (Array.isArray(type) && type.filter((each) => each !== 'null').length > 1) wrong.push(`${path}: several types`)
    // Java declares constants as strings, also those of booleans.
    if (constant !== undefined) wrong.push(`${path}: const`)
  }
  const names = new Set<string>(Object.keys(document.components.schemas))
  // Go has a constructor NewGroup and a type NullableGroup for each type Group.
  for (const name of names)
    for (const prefix of ['New', 'Nullable']) if (names.has(`${prefix}${name}`)) wrong.push(`${prefix}${name}`)
  expect(wrong).toEqual([])
})

test('every schema is used by an operation, since oapi-codegen leaves out all others', () => {
  const { paths, components } = committedDocument()
  const used = new Set<string>()
  const visit = (value: unknown) => {
    for (const [, { $ref }] of objectsIn(value)) {
      if (typeof $ref !== 'string' || used.has($ref)) continue
      used.add($ref)
      const [kind, name] = $ref.split('/').slice(2) as [string, string]
      visit(components[kind][name])
    }
  }
  visit(paths)
  const names = Object.keys(components.schemas).filter((name) => !used.has(`#/components/schemas/${name}`))
  expect(names).toEqual([])
})

test('every shape that is used more than once has a name', async () => {
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
  const seen = new Map<string, string[]>()
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return
    const isNamed = /^\/components\/schemas\/\w+$/.test(path)
    if ('properties' in value && !isNamed) {
      const shape = JSON.stringify(value, (key, part) => (key === 'description' ? undefined : part))
      seen.set(shape, [...(seen.get(shape) ?? []), path])
    }
    for (const [key, part] of Object.entries(value)) visit(part, `${path}/${key}`)
  }
  visit(document, '')
  expect([...seen.values()].filter((paths) => paths.length > 1)).toEqual([])
  const resources =
    'Contact Group Segment Suppression Consent Import BulkAction Flow FlowVersion Message Event Broadcast'
  const others =
    'BroadcastCounts Webhook Delivery Attempt ApiKey Member Invitation Organization User Problem Error Page'
  expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(`${resources} ${others}`.split(' ')))
})

test('query parameters can be sent at their full length', async () => {
  await using app = await startTestApp({}, ['serve'])
  const { paths } = (await app.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Documented>>
  }
  const headers = { authorization: `Bearer ${app.session}`, 'content-type': 'text/csv' }
  const answers: [string, number][] = []
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { operationId, parameters = [] }] of Object.entries(methods))
      for (const { name, schema } of parameters.filter(({ schema: { maxLength = 0 } }) => maxLength > 1_000)) {
        // Each quotation mark becomes three characters in the URL.
        const query = new URLSearchParams({ [name]: '"'.repeat(schema.maxLength!) })
        const raw = method === 'post' ? { raw: 'email\n' } : {}
        const { status } = await app.call(method.toUpperCase(), `${path}?${query}`, { headers, ...raw })
        answers.push([`${operationId} ${name}`, status])
      }
  expect(answers).toEqual([
    ['listContacts filter', 422],
    ['countContacts filter', 422],
    ['exportContacts filter', 422],
    ['importContacts mapping', 422],
  ])
})

test('the committed document passes the linter without warnings', async () => {
  const config = await loadConfig({ configPath: 'redocly.yaml' })
  const problems = await lint({ ref: 'docs/openapi.json', config })
  expect(problems.map(({ ruleId, message, location: [place] }) => [ruleId, message, place?.pointer])).toEqual([])
})

test('the committed document is that of the routes, without examples', async () => {
  await using app = await startTestApp({ BASE_URL: 'http://localhost:3000' }, undefined, { describesApi: true })
  const current = JSON.parse(JSON.stringify(await documentOf(app.app.server)))
  const committed = JSON.parse(readFileSync('docs/openapi.json', 'utf8'))
  expect(committed, 'Run `npm run openapi` and commit docs/openapi.json').toEqual(current)
})
