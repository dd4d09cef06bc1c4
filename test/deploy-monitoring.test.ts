import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { startTestApp } from './support/test-app.ts'

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }
type Panel = {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

const alerts = parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = alerts.groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync('deploy/grafana/waxwing.json', 'utf8')) as {
  panels: Panel[]
  templating: { list: { name: string }[] }
}
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
].map((expr) => expr.replaceAll('$__rate_interval', '5m'))

/** Returns the text of all nodes of one kind. Throws if the expression is invalid. */
function nodesOf(expression: string, kind: string): string[] {
  const found: string[] = []
  parser.parse(expression).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) throw new Error(`Invalid PromQL at character ${from}: ${expression}`)
      const parent = node.parent?.name
      if (type.name === kind && (kind !== 'Identifier' || parent === 'VectorSelector'))
        found.push(expression.slice(from, to))
    },
  })
  return found
}

/** Returns the metrics that a process exports, with the series of histograms and summaries, and the whole text. */
async function readMetrics() {
  await using app = await startTestApp({ SMTP_URL: 'smtp://127.0.0.1:9' })
  const { text } = await app.call('GET', '/metrics')
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({ name: name!, type }))
  const series = types.flatMap(({ name, type }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  )
  return {
    names: types.map(({ name }) => name),
    series,
    text,
    routes: app.app.server.printRoutes({ commonPrefix: false }),
  }
}

let exported: ReturnType<typeof readMetrics> | undefined
const readExported = () => {
  exported ??= readMetrics()
  return exported
}

test('alerts and the dashboard are valid PromQL, and use only metrics and labels that the service exports', async () => {
  const { series, text, routes } = await readExported()
  const used = new Set(expressions.flatMap((expression) => nodesOf(expression, 'Identifier')))
  expect(used.size).toBeGreaterThan(20)
  expect([...used].filter((name) => name !== 'up' && !series.includes(name))).toEqual([])

  const values = expressions.flatMap((expression) => [...expression.matchAll(/\b(outcome|event)="([^"]+)"/g)])
  expect(values.length).toBeGreaterThan(4)
  for (const [pair] of values) expect(text).toContain(`{${pair}}`)
  for (const path of ['/t/', '/public/', '/ready']) expect(routes).toContain(path)
})

test('an outage of the database and a pause of sending have alerts of their own', () => {
  const expressionOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr
  expect(expressionOf('WaxwingNotReady')).toBe('waxwing_ready == 0')
  expect(expressionOf('WaxwingSendingPaused')).toBe('max(waxwing_sending_paused) == 1')
  for (const late of ['WaxwingEmailsLate', 'WaxwingWebhooksLate'])
    expect(expressionOf(late)).toContain('unless max(waxwing_sending_paused) == 1')
  expect(expressionOf('WaxwingBackupOld')).toContain('waxwing_last_backup_timestamp_seconds')
})

test('every metric of the service is documented, and every documented metric exists', async () => {
  const { names } = await readExported()
  const own = names.filter((name) => name.startsWith('waxwing_'))
  const documented = readFileSync('docs/guides/operating.md', 'utf8')
    .replaceAll('`…_', '`waxwing_database_connections_')
    .match(/\b(waxwing_[a-z_]+)/g)!
  expect(own.filter((name) => !documented.includes(name))).toEqual([])
  // Exported only with sending processes.
  const optional = ['waxwing_sending_processes', 'waxwing_sending_processes_resident_memory_bytes']
  expect(documented.filter((name) => !own.includes(name) && !optional.includes(name))).toEqual([])
})

test('every alert has a severity and says what to do, and the panels do not overlap', () => {
  expect(rules.length).toBeGreaterThan(10)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { labels, annotations } of rules) {
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(Object.keys(annotations).sort()).toEqual(['description', 'summary'])
  }
  const { panels } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  const variables = dashboard.templating.list.map(({ name }) => `$${name}`)
  const mentioned = expressions.flatMap((expression) => expression.match(/\$\w+/g) ?? [])
  expect([...new Set(mentioned)].filter((name) => !variables.includes(name))).toEqual([])
})
