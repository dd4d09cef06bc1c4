import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { type ApiDocument, type Example, isFile } from '../src/platform/http/types.ts'
import { recordAccounts } from './reference/accounts.ts'
import { recordAudience } from './reference/audience.ts'
import { recordBrand } from './reference/brand.ts'
import { recordBroadcasts } from './reference/broadcasts.ts'
import { recordDomains } from './reference/domains.ts'
import { recordEmail } from './reference/email.ts'
import { recordEventExports, recordEvents, recordMetrics, recordProviders } from './reference/events.ts'
import { recordFlowParts } from './reference/flow-parts.ts'
import { recordImages } from './reference/images.ts'
import { recordMailServers } from './reference/mail-servers.ts'
import { Recorder } from './reference/recorder.ts'
import { Stable } from './reference/stable.ts'
import { type OtherRecords, startNameServer } from './support/name-server.ts'
import { startS3 } from './support/s3-server.ts'
import { startTestApp } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'
import { startReceiver } from './support/webhook-receiver.ts'

const fileOf = (tag: string) => tag.toLowerCase().replaceAll(' ', '-')
const folder = 'docs/reference/examples'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

test('the examples of the reference are responses of the service', { timeout: longTestMsMax.intervals }, async () => {
  // The metrics are compared as well, so all events have to be of the same UTC day.
  await until('midnight to pass', () => dayMs - (Date.now() % dayMs) > minuteMs, 2 * minuteMs)
  const sendgrid = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const keys = { sendgridKey: sendgrid.privateKey, mailgunKey: 'mailgun key', postmarkPassword: 'postmark password' }
  const behavior = { status: 200 }
  await using receiver = await startReceiver((response) => response.writeHead(behavior.status).end(), { plain: true })
  await using s3 = await startS3()
  const published = new Map<string, OtherRecords>()
  await using names = await startNameServer(
    (name) => (published.has(name) ? [] : 'no such name'),
    (name) => published.get(name) ?? {},
  )
  await using app = await startTestApp({
    DNS_SERVERS: names.address,
    BASE_URL: 'https://mail.example.com',
    MAIL_FROM: 'hello@acme.example',
    PROVIDER_SES_TOPICS: 'arn:aws:sns:eu-west-1:123456789012:bounces',
    PROVIDER_SENDGRID_KEY: sendgrid.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    PROVIDER_MAILGUN_KEY: keys.mailgunKey,
    PROVIDER_POSTMARK_TOKEN: keys.postmarkPassword,
  })
  const { body: document } = await app.call('GET', '/openapi.json')
  const recorder = new Recorder(app, document)

  await recorder.record('getHealth')
  await recorder.record('getReady')
  await recorder.record('checkTlsHost', { query: { domain: 'mail.example.com' } })
  await recorder.record('getOpenApiDocument', {
    shorten: ({ openapi, info }: { openapi: string; info: { title: string; version: string } }) => ({
      openapi,
      info: { title: info.title, version: info.version },
      paths: {},
    }),
  })
  await recordAccounts(recorder)
  const { contactId } = await recordAudience(recorder)
  const { flowId } = await recordEmail(recorder)
  await recordEvents(recorder, { receiver, contactId, behavior })
  await recordEventExports(recorder, s3)
  const { today, yesterday } = await recordMetrics(recorder, flowId)
  await recordProviders(recorder, keys)
  await recordBroadcasts(recorder)
  const serverValues = await recordMailServers(recorder)
  await recordImages(recorder)
  await recordFlowParts(recorder)
  await recordBrand(recorder)
  const domainValues = await recordDomains(recorder, published)
  await until('all emails', async () => (await app.db`select from messages where status = 'queued'`).length === 0)
  await recorder.record('deleteInboxEmails')

  const operations = Object.values(
    document.paths as Record<string, Record<string, { operationId: string; tags: string[] }>>,
  ).flatMap((methods) => Object.values(methods))
  expect(operations.filter(({ operationId }) => !recorder.examples.has(operationId))).toEqual([])
  const stable = new Stable([
    [receiver.url(), 'https://crm.example.com/waxwing'],
    [s3.url, 'https://s3.eu-central-1.amazonaws.com'],
    [today, '2026-03-02'],
    [yesterday, '2026-03-01'],
    ...domainValues,
    ...serverValues,
  ])
  const tags = [...new Set(operations.map(({ tags }) => tags[0]!))]
  for (const tag of tags) {
    const examples = Object.fromEntries(
      operations
        .filter(({ tags }) => tags[0] === tag)
        .map(({ operationId }) => [operationId, stable.of(recorder.examples.get(operationId)) as Example[]]),
    )
    await expect(`${JSON.stringify(examples, null, 2)}\n`).toMatchFileSnapshot(`../${folder}/${fileOf(tag)}.json`)
  }
  expect(readdirSync(folder).sort()).toEqual(tags.map((tag) => `${fileOf(tag)}.json`).sort())
})

test('every operation has a summary, a description, examples and code samples', async () => {
  await using app = await startTestApp()
  const document: ApiDocument = (await app.call('GET', '/openapi.json')).body
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema(document, 'document')
  const problems: string[] = []
  const known = new Set(document.tags.map(({ name }) => name))
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId: id, summary, description = '', responses, requestBody, tags = [] } = operation
      const [samples, text] = [operation['x-codeSamples'] ?? [], description.split('**Permission')[0]!.trim()]
      if (!summary) problems.push(`${id} has no summary`)
      if (text.length < 20) problems.push(`${id} has no description`)
      if (!tags.every((tag) => known.has(tag))) problems.push(`${id} has a tag without description`)
      const isForOthers = tags.includes('Providers') || tags.includes('Documentation') || isFile(operation)
      if (samples.map(({ label }) => label).join() !== (isForOthers ? 'curl' : 'curl,TypeScript'))
        problems.push(`${id} has no code samples`)
      const pointer = `document#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}/${method}`
      let shown = 0
      for (const [status, response] of Object.entries(responses))
        for (const value of examplesOf(Object.values(response.content ?? {})[0])) {
          shown++
          const type = Object.keys(response.content!)[0]!.replace('/', '~1')
          const validate = ajv.compile({ $ref: `${pointer}/responses/${status}/content/${type}/schema` })
          if (!validate(value)) problems.push(`${id} ${status}: ${ajv.errorsText(validate.errors)}`)
        }
      if (shown === 0) problems.push(`${id} has no example of a response`)
      const json = requestBody?.content['application/json']
      if (requestBody && examplesOf(Object.values(requestBody.content)[0]).length === 0)
        problems.push(`${id} has no example of a request`)
      for (const value of examplesOf(json)) {
        const validate = ajv.compile({ $ref: `${pointer}/requestBody/content/application~1json/schema` })
        if (!validate(value)) problems.push(`${id} request: ${ajv.errorsText(validate.errors)}`)
      }
    }
  expect(problems).toEqual([])
})

type Media = { example?: unknown; examples?: Record<string, { value: unknown }> } | undefined

const examplesOf = (media: Media): unknown[] => [
  ...(media?.example === undefined ? [] : [media.example]),
  ...Object.values(media?.examples ?? {}).map(({ value }) => value),
]

test('the code samples in TypeScript compile with the SDK', async () => {
  await using app = await startTestApp()
  const document: ApiDocument = (await app.call('GET', '/openapi.json')).body
  const folder = mkdtempSync('dist/samples-')
  try {
    const samples = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap((operation) =>
        (operation['x-codeSamples'] ?? []).flatMap(({ lang, source }) =>
          lang === 'TypeScript' ? [[operation.operationId, source] as const] : [],
        ),
      ),
    )
    expect(samples.length).toBeGreaterThan(70)
    for (const [name, source] of samples) writeFileSync(join(folder, `${name}.ts`), source)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.base.json',
        compilerOptions: { noEmit: true, noUnusedLocals: false, paths: { '@waxwing/sdk': ['../../sdk/src/index.ts'] } },
        include: ['*.ts'],
      }),
    )
    const { stdout } = await promisify(execFile)('node_modules/.bin/tsc', ['-p', folder]).catch((error) => error)
    expect(stdout).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
