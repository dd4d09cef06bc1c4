import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp } from '../../test/support/test-app.ts'

const manifest = JSON.parse(readFileSync('sdk/package.json', 'utf8'))

/** A project outside of the repository that installs the packed SDK without a network. */
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-scratch-'))
  execFileSync('npm', ['pack', '--silent', '-w', 'sdk', '--pack-destination', folder], { stdio: 'pipe' })
  writeFileSync(join(folder, 'package.json'), '{ "name": "scratch", "private": true, "type": "module" }')
  const tarball = `./waxwing-sdk-${manifest.version}.tgz`
  const flags = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', ['install', ...flags, tarball], { cwd: folder, stdio: 'pipe' })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const installed = () => join(folder, 'node_modules/@waxwing/sdk')

test('has the version of the service, its licence, and no dependencies', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { dependencies, peerDependencies, optionalDependencies, ...rest } = manifest
  expect(rest.version).toBe(version)
  expect([dependencies, peerDependencies, optionalDependencies]).toEqual([undefined, undefined, undefined])
  expect(readFileSync(join(installed(), 'LICENSE'), 'utf8')).toBe(readFileSync('LICENSE', 'utf8'))
})

test('contains the compiled code, its types and the README, and nothing else', () => {
  const files = readdirSync(installed(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed().length + 1))
  expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json', 'dist/index.js']))
  const isExpected = (file: string) =>
    /^(README\.md|LICENSE|(dist\/commonjs\/)?package\.json|dist\/.+\.(js|d\.ts))$/.test(file)
  expect(files.filter((file) => !isExpected(file) || file.includes('test'))).toEqual([])
})

test('the edge entry imports nothing of Node', () => {
  const seen = new Set<string>()
  const outside: string[] = []
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, target] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from '([^']+)'/gm)) {
      if (target!.startsWith('.')) visit(resolve(dirname(file), target!))
      else outside.push(target!)
    }
  }
  visit(join(installed(), 'dist/edge.js'))
  expect(seen.size).toBeGreaterThan(5)
  expect(outside).toEqual([])
  expect([...seen].filter((file) => /\b(Buffer|process)\./.test(readFileSync(file, 'utf8')))).toEqual([])
})

const program = (entry: string) => `
import { type Contact, type Data, type Group, Waxwing, WaxwingError, WaxwingManagement } from '${entry}'
const { URL_OF_SERVICE: baseUrl, KEY: apiKey, TOKEN: token } = (globalThis as any).process.env
const management = new WaxwingManagement({ baseUrl, token })
const { organizationName } = await new Waxwing({ apiKey, baseUrl }).checkToken()
const group: Data<'createGroup'> = await management.createGroup({ name: organizationName + ' ${entry}' })
const named: Group = group
const emails = (contacts: Contact[]): string[] => contacts.map(({ email }) => email)
// @ts-expect-error A contact has no subject.
void ((contact: Contact) => contact.subject)
emails((await management.listContacts()).data)
const names: string[] = []
for (const { name } of (await management.listGroups()).data) names.push(name)
// @ts-expect-error A flow needs a subject.
const failed = await management.createFlow({ name: 'x', kind: 'marketing', html: '' }).catch((error: unknown) => error)
console.log(names.includes(named.name), failed instanceof WaxwingError && failed.type)
`

test('a project that installs it compiles with strict types and runs', async () => {
  await using app = await startTestApp()
  writeFileSync(join(folder, 'node.ts'), program('@waxwing/sdk'))
  writeFileSync(join(folder, 'edge.ts'), program('@waxwing/sdk/edge'))
  symlinkSync(resolve('node_modules/@types'), join(folder, 'node_modules/@types'))
  const options = '--strict --target es2023 --module nodenext --lib es2023,dom,dom.asynciterable'.split(' ')
  const compile = (...more: string[]) =>
    spawnSync(resolve('node_modules/.bin/tsc'), [...options, ...more], { cwd: folder, encoding: 'utf8' }).stdout
  // The types of the edge entry need those of the web platform only.
  expect(compile('--types', '', 'edge.ts')).toBe('')
  expect(compile('--types', 'node', '--skipLibCheck', 'node.ts')).toBe('')
  for (const file of ['node.js', 'edge.js']) {
    expect(existsSync(join(folder, file))).toBe(true)
    const env = { PATH: process.env.PATH, URL_OF_SERVICE: app.url, KEY: app.apiKey, TOKEN: app.session }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env })
    expect([stdout.trim(), stderr]).toEqual(['true validation_failed', ''])
  }
})

test('a CommonJS project that installs it compiles and runs', async () => {
  await using app = await startTestApp({}, ['serve'])
  const common = join(folder, 'common')
  mkdirSync(common)
  writeFileSync(join(common, 'package.json'), '{ "type": "commonjs" }')
  const program = (entry: string) => `
import { Waxwing } from '${entry}'
const { URL_OF_SERVICE: baseUrl, KEY: apiKey } = (globalThis as any).process.env
const call = async (): Promise<string> => (await new Waxwing({ apiKey, baseUrl }).checkToken()).organizationName
// @ts-expect-error The key is text.
void (() => new Waxwing({ apiKey: 5, baseUrl }))
void call().then((name) => console.log(name))
`
  writeFileSync(join(common, 'node.ts'), program('@waxwing/sdk'))
  writeFileSync(join(common, 'edge.ts'), program('@waxwing/sdk/edge'))
  const options = '--strict --target es2022 --module node16 --lib es2023,dom,dom.asynciterable --skipLibCheck'.split(
    ' ',
  )
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types')]
  const arguments_ = [...options, ...types, 'node.ts', 'edge.ts']
  const compiled = spawnSync(resolve('node_modules/.bin/tsc'), arguments_, { cwd: common, encoding: 'utf8' })
  expect(compiled.stdout).toBe('')
  for (const file of ['node.js', 'edge.js']) {
    expect(readFileSync(join(common, file), 'utf8')).toContain('require("@waxwing/sdk')
    const env = { PATH: process.env.PATH, URL_OF_SERVICE: app.url, KEY: app.apiKey, NODE_NO_WARNINGS: '1' }
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: common, env })
    expect(stdout.trim()).toBe('Acme')
  }
})
