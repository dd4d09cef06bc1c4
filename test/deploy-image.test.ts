import { execFile, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Copy, DockerfileParser, type Env } from 'dockerfile-ast'
import { expect, test } from 'vitest'
import { settings } from '../src/platform/config/config.ts'
import { newFolder, watch } from './support/command.ts'
import { freePort } from './support/service.ts'
import { createTestDb } from './support/test-db.ts'

const file = readFileSync('Dockerfile', 'utf8')
const dockerfile = DockerfileParser.parse(file)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

/** The stages with their instructions, by name; the last one is called "final". */
const stages = (() => {
  const found: { name: string; image: string; instructions: ReturnType<typeof dockerfile.getInstructions> }[] = []
  for (const instruction of dockerfile.getInstructions()) {
    if (instruction.getKeyword() === 'FROM') {
      const [image = '', , name = 'final'] = instruction.getArguments().map((each) => each.getValue())
      found.push({ name, image, instructions: [] })
    } else found.at(-1)?.instructions.push(instruction)
  }
  return found
})()
const finalStage = stages.at(-1)!
const argumentsOf = (keyword: string, stage = finalStage) =>
  stage.instructions
    .filter((each) => each.getKeyword() === keyword)
    .map((each) => each.getArguments().map((argument) => argument.getValue()))

type Source = { from: string | undefined; paths: string[]; to: string }
const copiesOf = (stage: (typeof stages)[number]): Source[] =>
  stage.instructions
    .filter((each): each is Copy => each.getKeyword() === 'COPY')
    .map((copy) => {
      const words = copy.getArguments().map((argument) => argument.getValue())
      return { from: copy.getFromFlag()?.getValue() ?? undefined, paths: words.slice(0, -1), to: words.at(-1)! }
    })

/** Written by `npm run build`. */
const isBuilt = (path: string) => /(^|\/)dist(\/|$)/.test(path)

test('every file that the image copies exists, and npm ci sees every workspace', () => {
  const workspaces = [
    ...readdirSync('packages').map((name) => `packages/${name}/package.json`),
    'sdk/package.json',
    'web/package.json',
  ]
  const missing: string[] = []
  for (const stage of stages) {
    for (const { from, paths } of copiesOf(stage)) {
      if (from !== undefined) expect(stages.map(({ name }) => name)).toContain(from)
      for (const path of paths.map((each) => each.replace(/^\/app\//, '')))
        if (!isBuilt(path) && path !== 'node_modules' && !existsSync(path)) missing.push(path)
    }
  }
  expect(missing).toEqual([])
  for (const stage of stages.slice(0, 2)) {
    const beforeInstall = copiesOf(stage).flatMap(({ paths }) => paths)
    expect(beforeInstall).toEqual(
      expect.arrayContaining(['package.json', 'package-lock.json', '.npmrc', ...workspaces]),
    )
  }
  const production = argumentsOf('RUN', stages[1]).flat().join(' ')
  const chosen = [...production.matchAll(/-w (\S+)/g)].map(([, path]) => `${path}/package.json`)
  expect(chosen.sort()).toEqual(workspaces.filter((path) => path !== 'web/package.json').sort())
})

test('the image runs npm scripts that exist, as a user other than root, with known settings and a health check', () => {
  const scripts = [...file.matchAll(/npm run (?:--\S+ )*([\w:]+)/g)].map(([, name]) => name!)
  expect(scripts).toEqual(['build'])
  for (const name of scripts) expect(manifest.scripts).toHaveProperty(name)
  expect(argumentsOf('USER')).toEqual([['10001:10001']])
  expect(file).toContain('useradd --uid 10001')
  const variables = finalStage.instructions
    .filter((each): each is Env => each.getKeyword() === 'ENV')
    .flatMap((env) => env.getProperties())
  const environment = Object.fromEntries(variables.map((each) => [each.getName(), each.getValue()]))
  expect(environment).toMatchObject({ HOST: '0.0.0.0', DATA_DIR: '/data', NODE_ENV: 'production' })
  expect(Object.keys(environment).filter((name) => name !== 'NODE_ENV' && !(name in settings))).toEqual([])
  expect(argumentsOf('VOLUME')).toEqual([['/data']])
  expect(argumentsOf('EXPOSE')).toEqual([[environment.PORT]])
  const flags = manifest.config.node_flags.split(' ').map((flag: string) => JSON.stringify(flag))
  expect(argumentsOf('ENTRYPOINT').flat().join(' ')).toContain(flags.join(', '))
  const [, , major] = /ARG NODE_IMAGE=(node:(\d+)-bookworm-slim)/.exec(file)!
  expect(Number(major)).toBeGreaterThanOrEqual(20)
})

test('every native package of the image exists for amd64 and arm64', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { cpu?: string[]; os?: string[]; libc?: string[]; dev?: boolean; version: string }>
  }
  const native = Object.entries(packages).filter(([, { os, dev }]) => os?.includes('linux') && !dev)
  const versionsFor = (cpu: string) =>
    native
      .filter(([, each]) => each.cpu?.includes(cpu) && !each.libc?.includes('musl'))
      .map(([path, { version }]) => `${path.replace(cpu, 'CPU')} ${version}`)
  expect(versionsFor('x64').length).toBeGreaterThan(1)
  expect(versionsFor('x64').filter((each) => !versionsFor('arm64').includes(each))).toEqual([])
})

test('the build context leaves out secrets and local files, but nothing that is copied', () => {
  const ignored = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
  expect(ignored).toEqual(expect.arrayContaining(['**/node_modules', '**/dist', '.git', '.env', 'data']))
  const copied = stages.flatMap(copiesOf).flatMap(({ paths }) => paths.map((path) => path.replace(/^\/app\//, '')))
  const lost = copied.filter((path) => !isBuilt(path) && ignored.some((each) => `${path}/`.startsWith(`${each}/`)))
  expect(lost).toEqual([])
})

test('the files of the image are enough to run the service, and its health check notices when it stops', async () => {
  using folder = newFolder()
  await using testDb = await createTestDb()
  for (const { paths, to } of copiesOf(finalStage)) {
    const path = paths[0]!.replace(/^\/app\//, '')
    const target = join(folder.path, to)
    mkdirSync(dirname(target), { recursive: true })
    if (path === 'node_modules') symlinkSync(join(process.cwd(), path), target)
    else if (path === 'packages' || path === 'sdk') mkdirSync(target, { recursive: true })
    // The web app is built only for the tests in a browser.
    else if (path !== 'web/dist') cpSync(path, target, { recursive: true, filter: (each) => !each.endsWith('.map') })
  }
  const env = { PATH: process.env.PATH, PORT: String(await freePort()), DATABASE_URL: testDb.url, LOG_LEVEL: 'error' }
  const inFolder = { cwd: folder.path, env: { ...env, DATA_DIR: join(folder.path, 'data') } }
  const [, check] = /^HEALTHCHECK .*CMD \["node", "([^"]+)"\]$/m.exec(file)!
  const isHealthy = () =>
    promisify(execFile)(process.execPath, [check!], inFolder).then(
      () => true,
      () => false,
    )
  expect(await isHealthy()).toBe(false)
  await using service = watch(spawn(process.execPath, ['dist/bin/cli.js', 'start'], inFolder))
  await service.says('is ready')
  const get = (path: string) => fetch(`http://127.0.0.1:${env.PORT}${path}`)
  expect((await get('/ready')).status).toBe(200)
  expect((await get('/docs/')).status).toBe(200)
  expect(await isHealthy()).toBe(true)
  service.child.kill('SIGTERM')
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
})
