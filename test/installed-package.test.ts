import { execFile, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { newFolder, watch } from './support/command.ts'
import { freePort } from './support/service.ts'
import { callUrl } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'

const project = join(import.meta.dirname, '..')
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const manifest = readJson(join(project, 'package.json'))
const execute = promisify(execFile)
const nobody = { uid: 65_534, gid: 65_534 }
const timeout = longTestMsMax.installation

/** Only what npm needs to find packages, without the settings and the home folder of the user. */
async function npmEnvironment(home: string): Promise<NodeJS.ProcessEnv> {
  const get = async (name: string) => (await execute('npm', ['config', 'get', name])).stdout.trim()
  const network = Object.entries(process.env).filter(([name]) =>
    /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS)$/i.test(name),
  )
  return {
    ...Object.fromEntries(network),
    PATH: process.env.PATH,
    HOME: home,
    npm_config_registry: await get('registry'),
    npm_config_cache: await get('cache'),
    npm_config_prefer_offline: 'true',
    npm_config_update_notifier: 'false',
  }
}

type Place = { folder: string; home: string; user: { uid?: number; gid?: number } }
type Installed = { url: string; printed: () => string; textOf: (path: string) => Promise<string> }

/** Runs `npx waxwing start`, and `npx waxwing doctor` beside it, and stops it. */
async function useInstalled(
  { folder, home, user }: Place,
  words: string[],
  use: (service: Installed) => Promise<void>,
) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const options = { cwd: folder, env: { PATH: process.env.PATH, HOME: home, PORT: String(port) }, ...user }
  const npx = spawn('npx', ['waxwing', 'start', ...words], { ...options, detached: true })
  // npx does not pass signals on: the group has the service, as in a terminal.
  const signalGroup = (signal: NodeJS.Signals) => {
    try {
      process.kill(-npx.pid!, signal)
    } catch {
      // It has ended.
    }
  }
  await using service = watch(npx, () => signalGroup('SIGKILL'))
  let printed = ''
  npx.stdout.on('data', (text) => {
    printed += text
  })
  await service.says('  Mail ')
  const textOf = async (path: string) => {
    const response = await fetch(url + path)
    expect(response.status, path).toBe(200)
    return response.text()
  }
  await use({ url, printed: () => printed, textOf })
  const doctor = await execute('npx', ['waxwing', 'doctor'], options)
  expect(doctor.stdout).toMatch(/^ok {3}Database {4}embedded PostgreSQL in .*, migrated$/m)
  expect(doctor.stdout).toContain('No problems found.')
  signalGroup('SIGTERM')
  await service.ended
  await expect(fetch(`${url}/health`)).rejects.toThrow()
}

/** Uses everything that needs files or dependencies of the package. */
async function useEverything({ url, printed, textOf }: Installed): Promise<void> {
  const [script] = /\/assets\/[\w.-]+\.js/.exec(await textOf('/'))!
  expect((await textOf(script)).length).toBeGreaterThan(1_000)
  expect(await textOf('/docs/')).toContain('<script')
  expect(await textOf('/docs/guides/operating')).toContain('Running commands')
  expect(JSON.parse(await textOf('/openapi.json')).info.version).toBe(manifest.version)
  const [, email, password] = /sign in as (\S+) with the password (\S+)/.exec(printed())!
  const login = await callUrl('POST', `${url}/api/v1/auth/login`, { body: { email, password } })
  const mjml =
    '<mjml><mj-body><mj-section><mj-column><mj-text>Hello</mj-text></mj-column></mj-section></mj-body></mjml>'
  // Compiled in a task process.
  const preview = await callUrl('POST', `${url}/api/v1/organization/flows/preview`, {
    headers: { authorization: `Bearer ${login.body.data.token}` },
    body: { subject: 'Hi', html: mjml },
  })
  expect(preview).toMatchObject({ status: 200, body: { data: { html: expect.stringContaining('Hello') } } })
}

test('the packed service runs from an empty folder with npm install and npx, as any user', { timeout }, async () => {
  using place = newFolder()
  const folderOf = (name: string) => {
    mkdirSync(join(place.path, name), { mode: 0o755 })
    return join(place.path, name)
  }
  const [folder, home] = [folderOf('app'), folderOf('home')]
  const env = await npmEnvironment(home)
  await execute('npm', ['pack', '--pack-destination', place.path], { cwd: project })
  const packed = `waxwing-${manifest.version}.tgz`
  expect(readdirSync(place.path)).toContain(packed)
  expect(statSync(join(place.path, packed)).size).toBeLessThan(7.5 * 1024 ** 2)
  await execute('npm', ['install', `../${packed}`], { cwd: folder, env })

  const installed = join(folder, 'node_modules')
  const development = ['typescript', 'vitest', 'vite', 'rolldown', 'react', '@biomejs/biome']
  expect(development.filter((name) => existsSync(join(installed, name)))).toEqual([])
  const files = (readdirSync(join(installed, 'waxwing'), { recursive: true }) as string[]).filter((name) =>
    /\.(ts|tsx)$/.test(name),
  )
  expect(files).toEqual([])

  await useInstalled({ folder, home, user: {} }, ['--demo'], useEverything)
  if (userInfo().uid !== 0) return
  // In the same folder, because a second installation takes as long as everything else: the cache of npm belongs to root.
  rmSync(join(folder, 'data'), { recursive: true })
  for (const path of [folder, home]) chownSync(path, nobody.uid, nobody.gid)
  rmSync(join(home, '.npm'), { recursive: true, force: true })
  await useInstalled({ folder, home, user: nobody }, [], async ({ textOf }) => {
    expect(await textOf('/ready')).toContain('success')
  })
  expect(statSync(join(folder, 'data')).uid).toBe(nobody.uid)
})

test('the package installs the embedded PostgreSQL that its own library asks for', () => {
  const library = readJson(join(project, 'packages/embedded-postgres/package.json'))
  expect(manifest.optionalDependencies).toEqual(library.optionalDependencies)
})
