import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { BaseSequencer, createVitest, type TestSpecification, type Vitest } from 'vitest/node'
import { applyMutation, listMutations, type Mutation, shuffle, weaveMutations } from './mutations.ts'

// Tests the tests: `npm run mutate -- FOLDER… [--count N] [--seed S] [--id ID…] [--test FILE…]`. Puts one small fault at a time into a folder of
// src/ and runs the tests that execute the changed code. A fault that makes none of them fail has survived.
//
// All faults of a run are woven into a copy of the project, and an environment variable selects one of them. So Vitest,
// PostgreSQL and the transformed modules are shared by all faults.

const folders = [
  'platform/queue',
  'events/recording',
  'sending/acceptance',
  'broadcasts',
  'operations/privacy',
  'platform/secrets',
  'accounts/people',
  'events/webhooks',
]

/** Tests in other folders that were written for this one. */
const furtherTests: Partial<Record<string, string[]>> = {
  'events/recording': ['src/engagement/tracking/hits.test.ts', 'src/audience/contacts/consent.test.ts'],
  'sending/acceptance': ['src/operations/sending-status/sending-pause.test.ts'],
  'operations/privacy': ['src/audience/contacts/contacts.test.ts', 'src/audience/imports/undo.test.ts'],
  'platform/secrets': [
    'src/operations/backup/backup.test.ts',
    'src/operations/commands/doctor.test.ts',
    'src/events/webhooks/signing-secrets.test.ts',
  ],
}

type Result = 'killed' | 'timeout' | 'rejected by the compiler' | 'not reached' | 'survived'
type Outcome = { result: Result; by?: string }

/** Shorter than in `npm test`: a fault often makes a test wait for something that never happens. */
const limits = { expect: { poll: { timeout: 20_000 } } }
/** A worker that has not finished by then is killed: it may run an infinite loop. */
const runMsMax = 300_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    id: { type: 'string', multiple: true },
    test: { type: 'string', multiple: true },
  },
})
const project = process.cwd()
const copy = copyProject()
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))

async function mutateFolder(folder: string): Promise<void> {
  const files = sourcesOf(folder)
  const all = files.flatMap((file) => listMutations(file, readFileSync(file, 'utf8')))
  const sample = values.id
    ? all.filter(({ id }) => values.id!.includes(id))
    : shuffle(all, Number(values.seed)).slice(0, Number(values.count))
  const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
  for (const [file, source] of sources) {
    const woven = weaveMutations(
      source,
      sample.filter((mutation) => mutation.file === file),
      'isMutated',
    )
    if (woven !== source) writeFileSync(file, `// @ts-nocheck\n${woven}\n${switchSource}`)
  }

  const options = { root: copy, project: ['service'], watch: false, bail: 1, maxWorkers: 1, reporters: [{}], ...limits }
  const vitest = await createVitest('test', { ...options, sequence: { sequencer: InGivenOrder } })
  const outcomes = new Map<Mutation, Outcome>()
  try {
    const tests = values.test ?? [`src/${folder}/`, ...(furtherTests[folder] ?? [])]
    const specifications = await vitest.globTestSpecifications(tests)
    const reached = await findReached(vitest, specifications)
    for (const mutation of sample) {
      const outcome = await tryMutation(vitest, specifications, mutation, reached.get(mutation.id))
      outcomes.set(mutation, outcome)
      console.info(describe(mutation, outcome))
    }
  } finally {
    for (const [file, source] of sources) writeFileSync(file, source)
    await vitest.close()
  }
  for (const [mutation, { result }] of outcomes) {
    const error = result === 'survived' && compilerError(mutation, sources.get(mutation.file)!)
    if (error) outcomes.set(mutation, { result: 'rejected by the compiler', by: error })
  }
  writeReport(folder, all.length, outcomes)
}

class InGivenOrder extends BaseSequencer {
  override sort = async (files: TestSpecification[]) => files
}

/** Appended to each changed file. Records the tests that reach a mutation, or selects the one in MUTATION. */
const switchSource = `
import { appendFileSync as appendHit } from 'node:fs'
function isMutated(id) {
  const { MUTATION, MUTATION_HITS } = process.env
  if (MUTATION_HITS) {
    const { filepath, current } = globalThis.__vitest_worker__ ?? {}
    const hit = JSON.stringify([id, filepath, current?.type === 'test' ? current.fullTestName : null]) + '\\n'
    const knownHits = (globalThis.knownHits ??= new Set())
    if (!knownHits.has(hit)) appendHit(MUTATION_HITS, hit)
    knownHits.add(hit)
  }
  return MUTATION === id
}
`

/** The names of tests that reach a mutation, by file; null if it is reached outside of tests, as in a hook. */
type Reached = Map<string, Set<string | null>>

/** Runs the unchanged code, and sorts the files: the fastest first. */
async function findReached(vitest: Vitest, specifications: TestSpecification[]): Promise<Map<string, Reached>> {
  const hits = join(copy, 'dist/hits')
  writeFileSync(hits, '')
  process.env.MUTATION_HITS = hits
  const failure = await failingTest(vitest, specifications, 10 * runMsMax)
  if (failure) throw new Error(`A test fails without a mutation: ${failure}`)
  delete process.env.MUTATION_HITS
  const durationOf = ({ testModule }: TestSpecification) => testModule?.diagnostic().duration ?? 0
  specifications.sort((a, b) => durationOf(a) - durationOf(b))
  const reached = new Map<string, Reached>()
  for (const line of readFileSync(hits, 'utf8').trim().split('\n').filter(Boolean)) {
    const [id, file, test] = JSON.parse(line) as [string, string | null, string | null]
    const tests = reached.get(id) ?? new Map<string, Set<string | null>>()
    reached.set(id, tests)
    if (file) tests.set(file, (tests.get(file) ?? new Set()).add(test))
  }
  return reached
}

async function tryMutation(
  vitest: Vitest,
  specifications: TestSpecification[],
  { id, kind }: Mutation,
  reached: Reached | undefined,
): Promise<Outcome> {
  if (!reached) return { result: 'not reached' }
  // Constants are evaluated once for all files of a worker, so any test may depend on them.
  const isConstant = kind === 'bound' || [...reached.values()].some((tests) => tests.has(null))
  const names = [...new Set([...reached.values()].flatMap((tests) => [...tests]))].filter((name) => name !== null)
  if (!isConstant) vitest.setGlobalTestNamePattern(new RegExp(`^(?:${names.map(escapeRegExp).join('|')})$`))
  process.env.MUTATION = id
  try {
    const chosen = isConstant ? specifications : specifications.filter(({ moduleId }) => reached.has(moduleId))
    const by = await failingTest(vitest, chosen, runMsMax)
    return by ? { result: 'killed', by } : { result: 'survived' }
  } finally {
    delete process.env.MUTATION
    vitest.resetGlobalTestNamePattern()
  }
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Returns the first test that failed, or undefined. */
async function failingTest(vitest: Vitest, tests: TestSpecification[], limitMs: number): Promise<string | undefined> {
  const timer = setTimeout(killWorkers, limitMs)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(tests)
  clearTimeout(timer)
  // Vitest also returns the modules of earlier runs.
  for (const module of testModules.filter(({ moduleId }) => tests.some((test) => test.moduleId === moduleId))) {
    for (const test of module.children.allTests('failed'))
      return `${module.relativeModuleId}: ${test.fullName}: ${firstLine(test.result().errors?.[0])}`
    const [error] = module.errors()
    if (error) return `${module.relativeModuleId}: ${firstLine(error)}`
  }
  return unhandledErrors.length > 0 ? firstLine(unhandledErrors[0] as Error) : undefined
}

const firstLine = (error: { message: string } | undefined) => error?.message.split('\n')[0]

function killWorkers(): void {
  const { stdout } = spawnSync('pgrep', ['-P', String(process.pid), '-f', 'vitest/dist/workers'], { encoding: 'utf8' })
  for (const pid of stdout.trim().split('\n').filter(Boolean)) process.kill(Number(pid), 'SIGKILL')
}

/** Returns the first error. Names that are no longer used are not errors here. */
function compilerError(mutation: Mutation, source: string): string | undefined {
  writeFileSync(mutation.file, applyMutation(source, mutation))
  const { stdout } = spawnSync('npx', ['tsc', '-b', 'tsconfig.build.json'], { encoding: 'utf8' })
  writeFileSync(mutation.file, source)
  return stdout.split('\n').find((line) => /error TS(?!6133|6192|6196|6198)/.test(line))
}

const describe = ({ id, kind, file, line, summary }: Mutation, { result, by }: Outcome) =>
  `${result.padEnd(11)} ${id} ${file}:${line} ${kind}: ${summary.slice(0, 160)}${by ? `\n            ${by}` : ''}`

function writeReport(folder: string, candidates: number, outcomes: Map<Mutation, Outcome>): void {
  const report = [...outcomes].map(([{ id, kind, file, line, summary }, outcome]) => ({
    id,
    kind,
    file,
    line,
    summary,
    ...outcome,
  }))
  const survivors = report.filter(({ result }) => result === 'survived' || result === 'not reached')
  const folderOfReports = join(project, 'dist/mutations')
  mkdirSync(folderOfReports, { recursive: true })
  writeFileSync(
    join(folderOfReports, `${folder.replaceAll('/', '-')}.json`),
    JSON.stringify({ seed: values.seed, candidates, report }, null, 2),
  )
  console.info(`| folder | candidates | tested | killed | survived |`)
  console.info(
    `| ${folder} | ${candidates} | ${report.length} | ${report.length - survivors.length} | ${survivors.length} |`,
  )
}

function sourcesOf(folder: string): string[] {
  const listed = execFileSync('git', ['ls-files', `src/${folder}/*.ts`], { encoding: 'utf8', cwd: project })
  // Shapes are schemas, which test/openapi.test.ts compares with the API document.
  return listed.split('\n').filter((file) => existsSync(file) && !/^$|\.test\.ts$|shapes\.ts$/.test(file))
}

/** Copies the files of the project and its build; dependencies are shared. */
function copyProject(): string {
  const target = mkdtempSync(join(tmpdir(), 'waxwing-mutate-'))
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' }).trim().split('\n')
  const builds = ['dist', 'sdk/dist', 'packages/bounce-classifier/dist', 'packages/embedded-postgres/dist']
  for (const path of [...listed, ...builds, 'packages/smtp-client/dist', 'sdk/src/generated']) {
    if (!existsSync(path)) continue
    mkdirSync(dirname(join(target, path)), { recursive: true })
    cpSync(path, join(target, path), { recursive: true, preserveTimestamps: true })
  }
  for (const path of ['node_modules', 'web/node_modules']) symlinkSync(join(project, path), join(target, path))
  return target
}

process.chdir(copy)
for (const folder of positionals.length > 0 ? positionals : folders) await mutateFolder(folder)
process.exit()
