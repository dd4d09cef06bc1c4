import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkSettings } from '../src/commands/check-settings.ts'
import { type Environment, readConfig, settings } from '../src/config/config.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

/** Fails if a name is not a setting, or if the service would not start with these values. */
function checkEnvironment(environment: Environment): void {
  expect(Object.keys(environment).filter((name) => !(name in settings))).toEqual([])
  checkSettings(readConfig(environment))
}

type Compose = {
  services: Record<
    string,
    { environment: Record<string, string>; command?: string[]; volumes?: string[]; build?: { context: string } }
  >
  volumes: Record<string, unknown>
}

/** Replaces `${NAME:-default}` and `${NAME:?message}` as Compose does. */
const substitute = (text: string, environment: Environment) =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, rest: string) => {
    const value = environment[name] || (kind === '-' ? rest : undefined)
    if (value === undefined) throw new Error(`${name}: ${rest}`)
    return value
  })

test('the compose file starts the service with valid settings, and requires both secrets', () => {
  const file = readFileSync('deploy/compose/compose.yaml', 'utf8')
  const example = readFileSync('deploy/compose/example.env', 'utf8')
  const names = [...example.matchAll(/^#? ?([A-Z_]+)=/gm)].map(([, name]) => name!)
  const secrets = { APP_SECRET: 'x'.repeat(32), POSTGRES_PASSWORD: 'password' }
  expect(names).toEqual(expect.arrayContaining(Object.keys(secrets)))
  expect(() => substitute(file, { POSTGRES_PASSWORD: 'password' })).toThrow('APP_SECRET')
  expect(() => substitute(file, { APP_SECRET: 'x'.repeat(32) })).toThrow('POSTGRES_PASSWORD')

  const compose = parse(substitute(file, secrets), { merge: true }) as Compose
  for (const role of ['serve', 'work']) {
    const { environment, command } = compose.services[role]!
    checkEnvironment(environment)
    expect(command).toEqual([role])
  }
  expect(existsSync(join('deploy/compose', compose.services.serve!.build!.context, 'Dockerfile'))).toBe(true)
  const named = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((each) => each.split(':')[0]!),
  )
  expect(Object.keys(compose.volumes).sort()).toEqual(named.sort())
})

test('the systemd unit starts the service as its own user, with one writable directory', () => {
  const unit = readFileSync('deploy/systemd/waxwing.service', 'utf8')
  const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)
  const environment = Object.fromEntries(valuesOf('Environment').map((pair) => pair.split('=') as [string, string]))
  const { NODE_ENV, ...rest } = environment
  expect(NODE_ENV).toBe('production')
  checkEnvironment(rest)
  expect(rest.DATA_DIR).toBe(`/var/lib/${valuesOf('StateDirectory')[0]}`)
  expect(valuesOf('ExecStart')).toEqual([`/usr/bin/node ${manifest.config.node_flags} dist/bin/cli.js start`])
  expect(manifest.bin.waxwing).toBe('dist/bin/cli.js')
  expect(valuesOf('User')).toEqual(['waxwing'])
  for (const line of ['ProtectSystem=strict', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'PrivateTmp=yes'])
    expect(unit.split('\n')).toContain(line)
  // Its JIT compiler writes machine code.
  expect(valuesOf('MemoryDenyWriteExecute')).toEqual([])
})

const chartFolder = 'deploy/helm/waxwing'
// biome-ignore lint/suspicious/noExplicitAny: values and manifests have any shape
const readValues = (): any => parse(readFileSync(`${chartFolder}/values.yaml`, 'utf8'))
const templates = readdirSync(`${chartFolder}/templates`).map((name) =>
  readFileSync(`${chartFolder}/templates/${name}`, 'utf8'),
)

/** Maps that templates pass on as a whole. */
const passedOn =
  /^(settings|secretSettings|(serve|work)\.(resources|nodeSelector|tolerations|affinity)|.*(annotations|labels)|imagePullSecrets)$/

function leavesOf(value: unknown, path = ''): string[] {
  if (path && passedOn.test(path)) return [path]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, path ? `${path}.${name}` : name))
}

test('the chart uses exactly the values that it documents, with valid settings', () => {
  const values = readValues()
  const used = new Set(templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!)))
  const valueAt = (path: string) => path.split('.').reduce((value, name) => value?.[name], values)
  expect([...used].filter((path) => valueAt(path) === undefined)).toEqual([])
  expect(leavesOf(values).filter((path) => !used.has(path))).toEqual([])
  const secrets = { ...values.secretSettings, DATABASE_URL: 'postgres://u:p@db/waxwing', APP_SECRET: 'x'.repeat(32) }
  checkEnvironment({ ...values.settings, ...secrets })
})

test('the schema of the chart accepts its values, and rejects misspelt ones and settings that are not text', () => {
  const isValid = new Ajv({ allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(`${chartFolder}/values.schema.json`, 'utf8')),
  )
  const isAccepted = (change: object) => isValid({ ...readValues(), ...change })
  expect(isAccepted({})).toBe(true)
  expect(isAccepted({ exisitingSecret: 'waxwing' })).toBe(false)
  expect(isAccepted({ settings: { TRUST_PROXY: true } })).toBe(false)
  expect(isAccepted({ work: { ...readValues().work, replica: 3 } })).toBe(false)
})

test('the deployment guide names only files, settings and commands that exist', () => {
  const guide = readFileSync('docs/guides/deploying.md', 'utf8')
  const paths = [...guide.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path)
  expect(paths.length).toBeGreaterThan(8)
  expect(paths.filter((path) => !path.endsWith('/.env') && !existsSync(path))).toEqual([])
  const names = [...guide.matchAll(/\b([A-Z]+_[A-Z_]+)\b/g)].map(([, name]) => name!)
  const others = ['POSTGRES_PASSWORD', 'CAP_NET_BIND_SERVICE']
  expect(names.filter((name) => !(name in settings) && !others.includes(name))).toEqual([])
  const known = [...readFileSync('src/cli.ts', 'utf8').matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(([, name]) => name!)
  const used = [...guide.matchAll(/(?:waxwing|…|:3000) waxwing ([a-z-]+)/g)].map(([, name]) => name!)
  expect(used.length).toBeGreaterThan(3)
  expect(used.filter((name) => !known.includes(name))).toEqual([])
})
