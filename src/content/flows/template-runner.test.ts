import { afterAll, expect, test } from 'vitest'
import { createFlow, send } from '../../../test/support/flows.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { TaskPool, type TaskReport } from '../../platform/tasks/pool.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { type FlowVersionId, newId, parseId } from '../../platform/values/ids.ts'
import { loadTemplate } from './template.ts'
import { type ReadyVersion, TemplateCache } from './template-cache.ts'
import { TemplateRunner } from './template-runner.ts'
import type { TemplateValues } from './values.ts'
import { isLight, weightOf } from './weight.ts'

const reports: TaskReport[] = []
const tasks = new TaskPool({ processes: 2, onOutcome: (report) => reports.push(report) })
afterAll(() => tasks.stop())
const runner = new TemplateRunner({ tasks, cpuMs: 20 })
const organizationId = newId('org')

const values: TemplateValues = {
  contact: { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: {} },
  organization: { name: 'Analytical Engines' },
  unsubscribeUrl: 'https://mail.example.com/u/abc',
  context: { name: 'Ada' },
}

async function versionOf(subject: string, html: string): Promise<ReadyVersion> {
  const stored = { subject, html, brand: null, text: { from: 'flow' as const, source: 'x' } }
  const template = isLight(stored) ? await loadTemplate(stored) : undefined
  const version = { id: newId('flv'), organizationId, stored, template, slowUntil: 0, lateRuns: 0 }
  return version as unknown as ReadyVersion
}

const row = '<p>{{ name }}</p>'
const wasteful = '{% for i in (1..1000) %}{% assign q = 1 | date: "%c%c%c%c", "Europe/Berlin" %}{% endfor %}x'
const busy = '{% for i in (1..1900) %}{{ name | upcase }}{% endfor %}'

test('a large template is neither compiled nor rendered on the main thread', async () => {
  const version = await versionOf('Hello {{ name }}', row.repeat(2_000))
  expect(version.template).toBeUndefined()
  expect(runner.bodyNow(version, values)).toBeUndefined()
  expect(await runner.draft(version, values)).toEqual({
    missing: [],
    unused: [],
    subject: 'Hello Ada',
    recipient: { first_name: 'Ada' },
  })
  expect((await runner.body(version, values, 'wait')).html).toBe('<p>Ada</p>'.repeat(2_000))
  expect(await runner.draft(version, { ...values, context: {} })).toMatchObject({ missing: ['name'], subject: '' })
})

test('a small template is rendered on the main thread until it proves slow', async () => {
  // While the code of the engine is cold, the clock may misjudge any template.
  await until('the engine to be warm', async () => {
    const another = await versionOf('Hello {{ name }}', row)
    return runner.draftNow(another, values) && runner.bodyNow(another, values)
  })
  const version = await versionOf('Hello {{ name }}', row)
  reports.length = 0
  expect(await runner.draft(version, values)).toEqual({
    missing: [],
    unused: [],
    subject: 'Hello Ada',
    recipient: { first_name: 'Ada' },
  })
  expect((await runner.body(version, values, 'wait')).html).toBe('<p>Ada</p>')
  expect(reports).toEqual([])

  const slow = await versionOf('x', busy)
  expect(runner.isSlow(slow)).toBe(false)
  // Immediately by units, or after three times by the clock, which triggers first on a slow machine.
  for (let run = 0; run < 3; run++) expect((await runner.body(slow, values, 'wait')).html).toBe('ADA'.repeat(1_900))
  expect(runner.isSlow(slow)).toBe(true)
  expect(reports.map(({ task }) => task)).toEqual(['flows.body', 'flows.body', 'flows.body'])
})

test('a template beyond the limits of an email is rejected, wherever it runs', async () => {
  const version = await versionOf(wasteful, row)
  await expect(runner.draft(version, values)).rejects.toThrow(Refusal)
  const template = { subject: wasteful, source: { format: 'html' as const, text: row } }
  const preview = await runner.preview(organizationId, { template, values, isMarketing: false, utmQuery: '' })
  expect(preview).toMatchObject({ subject: null, problems: [{ path: 'subject' }] })
})

test('dates with names, time zones and large objects are counted by their cost', async () => {
  const context = { name: 'x', big: Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${i}`, i])) }
  const loop = (body: string) => `{% for i in (1..100) %}${body}{% endfor %}`
  for (const body of [
    '{{ 1 | date: "%B" }}',
    '{{ 1 | date: "%H", "Europe/Berlin" }}',
    '{% if big == big %}{% endif %}',
  ]) {
    const template = (await versionOf('x', loop(body))).template!
    expect(() => template.renderBody({ ...values, context }, { units: 900_000, cpuMs: 10_000 })).toThrow(Refusal)
  }
})

test('a hostile preview of ordinary size gets a response', async () => {
  await using app = await startTestApp({}, ['serve'])
  const links = '{% for i in (1..60) %}{% for j in (1..50) %}<a href="x{{ i }}{{ j }}">y</a>{% endfor %}{% endfor %}'
  const html = `${'<p>text</p>'.repeat(30_000)}{{ missing }}${links}`
  const { status, body } = await app.manage('POST', '/organization/flows/preview', { subject: 'x', html })
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ missing: ['missing'], findings: [] })
})

test('flows with large and with slow templates are accepted and sent', async () => {
  await using app = await startTestApp()
  const large = await createFlow(app, { subject: 'Large {{ order_id }}', html: '<p>{{ order_id }}</p>'.repeat(1_000) })
  const slow = await createFlow(app, { html: `${busy.replaceAll('name', 'order_id')}{{ unsubscribe_url }}` })
  const ids: string[] = []
  for (const flowId of [large, slow, large, slow]) {
    const { status, body } = await send(app, flowId)
    expect(status).toBe(200)
    ids.push(body.data.message_id)
  }
  for (const id of ids) {
    await until('the mail to be sent', async () => {
      const { body } = await app.manage('GET', `/organization/messages/${id}`)
      return body.data.status === 'sent'
    })
    const { body } = await app.manage('GET', `/organization/messages/${id}`)
    expect(body.data.html).toContain('1042')
  }
  const { body } = await send(app, large, { context: {} })
  expect(body.error.type).toBe('missing_variables')
})

test('the cache is bounded by the size of versions and evicts the least recently used', async () => {
  await using app = await startTestApp({}, ['serve'])
  const id = parseId('org', app.organizationId)!
  const versions: FlowVersionId[] = []
  for (let n = 0; n < 4; n++) {
    const flowId = parseId('flw', await createFlow(app, { html: `${n}${'x'.repeat(20_000)}` }))!
    const [flow] = await app.db<{ versionId: FlowVersionId }>`select version_id from flows where id = ${flowId}`
    versions.push(flow!.versionId)
  }
  const [one] = (await new TemplateCache(app.db).getAll([{ organizationId: id, id: versions[0]! }])).values()
  const bytesMax = 3.5 * (weightOf(one!.stored) + 2 * one!.source.text.length)
  const cache = new TemplateCache(app.db, { bytesMax: Math.round(bytesMax) })
  const get = async (n: number) => (await cache.getAll([{ organizationId: id, id: versions[n]! }])).get(versions[n]!)
  const first = await get(0)
  const second = await get(1)
  await get(2)
  expect(await get(0)).toBe(first)
  await get(3)
  expect(cache.bytes).toBeLessThanOrEqual(bytesMax)
  expect(await get(0)).toBe(first)
  expect(await get(1)).not.toBe(second)
})
