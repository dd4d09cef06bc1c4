import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const read = (path: string) => readFileSync(path, 'utf8')
const readJson = (path: string) => JSON.parse(read(path))
const { version } = readJson('package.json')
const workspaces = [...readdirSync('packages').map((name) => `packages/${name}`), 'sdk', 'web']

test('the service, its packages, the image, the chart and the API document have the same version', () => {
  const lock = readJson('package-lock.json')
  const chart = parse(read('deploy/helm/waxwing/Chart.yaml'))
  const found: Record<string, string | undefined> = {
    lock: lock.version,
    'lock: waxwing': lock.packages[''].version,
    chart: chart.version,
    'chart: image': chart.appVersion,
    image: /image\.version="([^"]*)"/.exec(read('Dockerfile'))?.[1],
    compose: /^ {2}image: waxwing:(.*)$/m.exec(read('deploy/compose/compose.yaml'))?.[1],
    'API document': readJson('docs/openapi.json').info.version,
  }
  for (const folder of workspaces) {
    found[folder] = readJson(`${folder}/package.json`).version
    found[`lock: ${folder}`] = lock.packages[folder].version
  }
  expect(Object.entries(found).filter(([, each]) => each !== version)).toEqual([])
})

/** Without the suffix between two releases. */
const release = version.replace(/-dev$/, '')

test('files that the documentation names by version have the current one', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'sdk/README.md'].concat(
    readdirSync('docs/guides')
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/guides/${name}`),
  )
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/\b(?:waxwing(?:-sdk)?-(?=\S+\.tgz)|waxwing:|git tag v)(\d+\.\d+\.\d+(?:-dev)?)/g)].map(
      ([name, found]) => ({
        page,
        name,
        found,
      }),
    ),
  )
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter(({ name, found }) => found !== (name.startsWith('git tag') ? release : version))).toEqual([])
})

test('the changelog starts with the current version and its date, after what is unreleased', () => {
  const titles = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, title]) => title)
  if (version !== release) return expect(titles[0]).toBe('Unreleased')
  const first = titles[0] === 'Unreleased' ? titles[1] : titles[0]
  expect(first).toMatch(new RegExp(`^${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)$`))
})
