import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkSettings } from '../src/operations/commands/check-settings.ts'
import { type Environment, readConfig, settings } from '../src/platform/config/config.ts'
import { parseEnvFile } from '../src/platform/config/env-file.ts'
import { newFolder, watch } from './support/command.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

/** Fails if a name is not a setting, or if the service would not start with these values. */
function checkEnvironment(environment: Environment): void {
  expect(Object.keys(environment).filter((name) => !(name in settings))).toEqual([])
  checkSettings(readConfig(environment))
}

type Compose = {
  services: Record<
    string,
    {
      image: string
      environment: Record<string, string>
      env_file?: string
      command?: string[]
      ports?: string[]
      volumes?: string[]
      build?: { context: string }
    }
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
  const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
    volumes.map((each) => each.split(':')[0]!),
  )
  const named = mounted.filter((name) => !name.startsWith('./'))
  expect(Object.keys(compose.volumes).sort()).toEqual(named.sort())
})

/** Settings that name a file. */
const fileSettings = Object.keys(settings).filter((name) => name.endsWith('_FILE'))
/** They depend on the containers, so the compose file and the chart set them. */
const fixedSettings = ['HOST', 'PORT', 'WORK_PORT', 'METRICS_HOST', 'METRICS_PORT', 'DATA_DIR', 'BOUNCE_SMTP_HOST']

test('every setting and file can be passed to the services of the compose file', () => {
  const file = readFileSync('deploy/compose/compose.yaml', 'utf8')
  const secrets = { APP_SECRET: 'x'.repeat(32), POSTGRES_PASSWORD: 'password' }
  const compose = parse(substitute(file, secrets), { merge: true }) as Compose
  const own = { MAIL_FROM: 'own@example.com', BASE_URL: 'https://own.example.com', SMTP_URL: 'smtp://own.example.com' }
  const substituted = parse(substitute(file, { ...secrets, ...own }), { merge: true }) as Compose
  for (const role of ['serve', 'work']) {
    const { env_file: passed, environment, volumes } = compose.services[role]!
    expect(passed).toBe('.env')
    const notFromFile = Object.keys(environment).filter((name) => !(name in own) && !(name in secrets))
    expect(notFromFile.sort()).toEqual([...fixedSettings, 'DATABASE_URL'].sort())
    expect(substituted.services[role]!.environment).toMatchObject(own)
    expect(volumes).toContain('./files:/files:ro')
  }
  const example = readFileSync('deploy/compose/example.env', 'utf8')
  for (const [, name, path] of example.matchAll(/^# (\w+_FILE)=(.*)$/gm)) {
    expect(fileSettings).toContain(name)
    expect(path).toMatch(/^\/files\//)
  }
})

test('the compose file publishes ports on this machine only, and names the versions of its images', () => {
  const file = readFileSync('deploy/compose/compose.yaml', 'utf8')
  const compose = parse(substitute(file, { APP_SECRET: 'x', POSTGRES_PASSWORD: 'x' }), { merge: true }) as Compose
  const ports = Object.values(compose.services).flatMap(({ ports = [] }) => ports)
  expect(ports).toEqual(['127.0.0.1:3000:3000', '127.0.0.1:8025:8025'])
  const images = Object.values(compose.services).map(({ image }) => image)
  for (const image of images.filter((each) => each !== 'waxwing')) expect(image).toMatch(/:v?\d+\.\d+/)
})

test('the systemd unit starts the service as its own user, with one writable directory', () => {
  const unit = readFileSync('deploy/systemd/waxwing.service', 'utf8')
  const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!)
  // A setting here would take precedence over the file, and commands would not see it.
  expect(valuesOf('Environment')).toEqual(['NODE_ENV=production'])
  const settings = parseEnvFile(readFileSync('deploy/systemd/waxwing.env', 'utf8').replaceAll(/^# (?=[A-Z_]+=)/gm, ''))
  checkEnvironment(settings)
  expect(settings.DATA_DIR).toBe(`/var/lib/${valuesOf('StateDirectory')[0]}`)
  const program = `/opt/waxwing/node_modules/${manifest.name}/${manifest.bin.waxwing}`
  expect(valuesOf('ExecStart')).toEqual([
    `/usr/bin/node ${manifest.config.node_flags} -- ${program} start --env-file /etc/waxwing/waxwing.env`,
  ])
  const command = readFileSync('deploy/systemd/waxwing', 'utf8')
  expect(command).toContain(`\nsettings=/etc/waxwing/waxwing.env\nprogram=${program}\n`)
  expect(valuesOf('User')).toEqual(['waxwing'])
  for (const line of ['ProtectSystem=strict', 'NoNewPrivileges=yes', 'CapabilityBoundingSet=', 'PrivateTmp=yes'])
    expect(unit.split('\n')).toContain(line)
  // Its JIT compiler writes machine code.
  expect(valuesOf('MemoryDenyWriteExecute')).toEqual([])
})

/** Copies the program to where other users can read it: the checkout may be in a private folder. */
function copyProgram(folder: string): string {
  cpSync('dist/bin', join(folder, 'dist/bin'), { recursive: true })
  cpSync('package.json', join(folder, 'package.json'))
  mkdirSync(join(folder, 'src/platform/db/migrations'), { recursive: true })
  execFileSync('chmod', ['-R', 'a+rX', ...['dist', 'src', 'package.json'].map((name) => join(folder, name))])
  chmodSync(folder, 0o755)
  return join(folder, 'dist/bin/cli.js')
}

test('the command for the systemd service runs with its settings alone, and as its user', async () => {
  using folder = newFolder()
  const settings = join(folder.path, 'waxwing.env')
  writeFileSync(settings, `DATA_DIR=${folder.path}/state\nMAIL_FROM="Acme" <hello@acme.example>\n`, { mode: 0o600 })
  const installed = join(import.meta.dirname, '../dist/bin/cli.js')
  const copy = copyProgram(folder.path)
  const run = async (user: string, program: string, ...words: string[]) => {
    const script = readFileSync('deploy/systemd/waxwing', 'utf8')
      .replace(/^user=.*/m, `user=${user}`)
      .replace(/^settings=.*/m, `settings=${settings}`)
      .replace(/^program=.*/m, `program=${program}`)
      .replace(/PATH=\S+/, `PATH=${dirname(process.execPath)}:/usr/bin:/bin`)
    const env = { PATH: process.env.PATH, MAIL_FROM: 'other@example.com', DATA_DIR: '/elsewhere' }
    await using command = watch(spawn('sh', ['-c', script, 'waxwing', ...words], { cwd: folder.path, env }))
    return await command.ended
  }
  const me = userInfo()
  const config = await run(me.username, installed, 'config')
  expect(config.stdout).toMatch(new RegExp(`^MAIL_FROM +"Acme" <hello@acme.example> +${settings} `, 'm'))
  expect(await run(me.username, installed, 'pause-sending')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`There is no database in ${folder.path}/state (DATA_DIR).`),
  })
  expect(await run(me.username, installed)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Usage: waxwing COMMAND'),
  })
  // Only root becomes another user, who cannot read the settings of this one.
  const other = me.uid === 0 ? 'nobody' : 'waxwing'
  const error = me.uid === 0 ? 'waxwing.env cannot be read (EACCES)' : 'Run this as root or as the user waxwing'
  expect(await run(other, copy, 'doctor')).toMatchObject({ code: 1, stderr: expect.stringContaining(error) })
})

const chartFolder = 'deploy/helm/waxwing'
// biome-ignore lint/suspicious/noExplicitAny: values and manifests have any shape
const readValues = (): any => parse(readFileSync(`${chartFolder}/values.yaml`, 'utf8'))
const templates = readdirSync(`${chartFolder}/templates`).map((name) =>
  readFileSync(`${chartFolder}/templates/${name}`, 'utf8'),
)

/** Maps that templates pass on as a whole. */
const passedOn =
  /^(settings|secretSettings|(serve|work)\.(resources|nodeSelector|tolerations|affinity)|.*(annotations|Annotations|labels)|imagePullSecrets)$/

function leavesOf(value: unknown, path = ''): string[] {
  if (path && passedOn.test(path)) return [path]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, path ? `${path}.${name}` : name))
}

test('the chart uses exactly the values that it documents, with valid settings', () => {
  const values = readValues()
  const used = new Set(templates.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!)))
  const valueAt = (path: string) => path.split('.').reduce((value, name) => value?.[name], values)
  const isSetting = (path: string) => path.startsWith('settings.') && path.slice('settings.'.length) in settings
  expect([...used].filter((path) => valueAt(path) === undefined && !isSetting(path))).toEqual([])
  expect(leavesOf(values).filter((path) => !used.has(path))).toEqual([])
  const secrets = { ...values.secretSettings, DATABASE_URL: 'postgres://u:p@db/waxwing', APP_SECRET: 'x'.repeat(32) }
  const texts = Object.entries({ ...values.settings, ...secrets }).map(([name, value]) => [name, String(value)])
  checkEnvironment(Object.fromEntries(texts))
})

const isValidForChart = new Ajv({ allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(`${chartFolder}/values.schema.json`, 'utf8')),
)
const isAccepted = (change: object) => isValidForChart({ ...readValues(), ...change })

test('every setting can be passed through the chart, also as a number, and files and the ports for bounces and submission', () => {
  for (const name of Object.keys(settings))
    for (const value of ['text', 20, true]) {
      expect(isAccepted({ settings: { [name]: value } })).toBe(true)
      expect(isAccepted({ secretSettings: { [name]: value } })).toBe(true)
    }
  const [helpers, serve, work, services] = [
    '_helpers.tpl',
    'serve-deployment.yaml',
    'work-deployment.yaml',
    'service.yaml',
  ].map((name) => readFileSync(`${chartFolder}/templates/${name}`, 'utf8')) as [string, string, string, string]
  const fixed = [...helpers.matchAll(/^ {2}- name: ([A-Z_]+)$/gm)].map(([, name]) => name!)
  const submission = Object.keys(settings).filter((name) => name.startsWith('SUBMISSION_'))
  expect(fixed.sort()).toEqual([...fixedSettings, 'BOUNCE_DOMAIN', 'BOUNCE_SMTP_PORT', ...submission].sort())
  for (const deployment of [serve, work])
    for (const part of ['environment', 'volumeMounts', 'fileVolumes'])
      expect(deployment).toContain(`include "waxwing.${part}" .`)
  expect(helpers).toContain('mountPath: /files')
  expect(serve).toMatch(/name: bounces\n +containerPort: 2525/)
  expect(services).toContain('targetPort: bounces')
  for (const name of ['submission', 'submissions']) {
    expect(serve).toContain(`- name: ${name}\n`)
    expect(services).toContain(`targetPort: ${name}\n`)
  }
  const extra = { extraEnv: [{ name: 'SMTP_URL', valueFrom: {} }], extraVolumes: [{ name: 'ca' }], filesSecret: 'keys' }
  expect(isAccepted({ ...extra, extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }] })).toBe(true)
})

test('no example publishes the port of the metrics', () => {
  const services = readFileSync(`${chartFolder}/templates/service.yaml`, 'utf8').split('\n---\n')
  const exposed = services.filter((text) => text.includes('targetPort: metrics'))
  expect(exposed).toHaveLength(1)
  expect(exposed[0]).toContain('clusterIP: None')
  const ingress = readFileSync(`${chartFolder}/templates/ingress.yaml`, 'utf8')
  expect([...ingress.matchAll(/port:\s+name: (\w+)/g)].map(([, name]) => name)).toEqual(['http'])
  expect(readFileSync(`${chartFolder}/templates/servicemonitor.yaml`, 'utf8')).toContain('- port: metrics')

  const dockerfile = readFileSync('Dockerfile', 'utf8')
  const [, port] = /METRICS_PORT=(\d+)/.exec(dockerfile)!
  expect(dockerfile).not.toMatch(new RegExp(`EXPOSE .*${port}`))
  const prometheus = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'))
  for (const target of prometheus.scrape_configs[0].static_configs[0].targets) expect(target).toMatch(`:${port}`)
  // Behind these proxies BASE_URL is public, so PORT does not serve the metrics.
  for (const name of ['self-hosting', 'deploying', 'operating', 'scaling']) {
    const guide = readFileSync(`docs/guides/${name}.md`, 'utf8')
    const targets = [...guide.matchAll(/(?:reverse_proxy|proxy_pass|-p) (?:http:\/\/)?([\d.:]+)/g)].map(([, at]) => at!)
    for (const target of targets) expect(target).not.toContain(port)
  }
})

test('the schema of the chart accepts its values, and rejects misspelt ones and settings that are lists', () => {
  expect(isAccepted({})).toBe(true)
  expect(isAccepted({ exisitingSecret: 'waxwing' })).toBe(false)
  expect(isAccepted({ settings: { TRUST_PROXY: ['true'] } })).toBe(false)
  expect(isAccepted({ settings: { trustProxy: true } })).toBe(false)
  expect(isAccepted({ work: { ...readValues().work, replica: 3 } })).toBe(false)
})

test('the deployment guide names only files, settings and commands that exist', () => {
  const guide = readFileSync('docs/guides/deploying.md', 'utf8')
  const paths = [...guide.matchAll(/\bdeploy\/[\w./-]*\w/g)].map(([path]) => path)
  expect(paths.length).toBeGreaterThan(8)
  // Created by the operator.
  const ownPaths = ['deploy/compose/.env', 'deploy/compose/files']
  expect(paths.filter((path) => !ownPaths.includes(path) && !existsSync(path))).toEqual([])
  const names = [...guide.matchAll(/\b([A-Z]+_[A-Z_]+)\b/g)].map(([, name]) => name!)
  const others = ['POSTGRES_PASSWORD', 'CAP_NET_BIND_SERVICE']
  expect(names.filter((name) => !(name in settings) && !others.includes(name))).toEqual([])
  const known = [...readFileSync('src/operations/commands/cli.ts', 'utf8').matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(
    ([, name]) => name!,
  )
  const used = [...guide.matchAll(/(?:waxwing|…|:3000) waxwing ([a-z-]+)/g)].map(([, name]) => name!)
  expect(used.length).toBeGreaterThan(3)
  expect(used.filter((name) => !known.includes(name))).toEqual([])
})
