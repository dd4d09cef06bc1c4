import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { areas } from '../src/areas.ts'

const root = 'src'
/** The programs and what puts the areas together. They may import everything. */
const wiring = new Set(['service.ts', 'mounts.ts', 'cli.ts', 'task-process.ts', 'sending-process.ts'])
const names = Object.keys(areas)
const areaOf = (file: string) => file.split('/')[0]!
/** The folder below the area, or undefined for a file that belongs to the whole area. */
const subjectOf = (file: string) => (file.split('/').length > 2 ? file.split('/')[1] : undefined)

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
)
/** The file of an area that others import: what it does not export is private. */
const doorOf = (area: string) => `${area}/${area}.ts`
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

/** Returns the names that an area exports to others. Platform has none: others import any of its files. */
function namesOfDoor(area: string): string[] {
  if (area === 'platform' || !files.includes(doorOf(area))) return []
  const lists = [...textOf(doorOf(area)).matchAll(/export (?:type )?\{([^}]*)\}/g)]
  return lists.flatMap(([, list]) => list!.split(',').flatMap((name) => name.trim().split(' ').at(-1) || []))
}

const relativeImports = (file: string) => importsIn(file, textOf(file))

function importsIn(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?'(\.{1,2}\/[^']+)'/g)].map((match) =>
    normalize(join(dirname(file), match[1]!)),
  )
}

/** Returns the rule that an import breaks. */
function brokenRule(file: string, target: string): string | undefined {
  const [from, to] = [areaOf(file), areaOf(target)]
  const [subject, targetSubject] = [subjectOf(file), subjectOf(target)]
  const { subjects, sharesSql } = areas[from]!
  const isAlike = from === to && (subject === targetSubject || sharesSql)
  if (target.endsWith('.sql.ts') && !isAlike) return 'only a subject itself imports its SQL'
  if (from !== to && names.indexOf(to) > names.indexOf(from)) return `${from} is below ${to}`
  if (from !== to) return to === 'platform' || target === doorOf(to) ? undefined : `others use ${doorOf(to)}`
  if (!subject || !targetSubject || subject === targetSubject) return undefined
  return subjects.indexOf(targetSubject) > subjects.indexOf(subject)
    ? `${subject} is below ${targetSubject}`
    : undefined
}

test('imports between areas, and between the subjects of an area, point down', () => {
  const wrong: string[] = []
  for (const file of files.filter((each) => !wiring.has(each) && each !== 'areas.ts')) {
    for (const target of relativeImports(file)) {
      // Commands start the service.
      if (wiring.has(target) && subjectOf(file) === 'commands') continue
      const rule = brokenRule(file, target)
      if (rule) wrong.push(`${file} imports ${target}: ${rule}`)
    }
  }
  expect(wrong).toEqual([])
})

test('an area exports only what others use', () => {
  const imported = new Set<string>()
  for (const file of files.filter((each) => areaOf(each) in areas)) {
    for (const [, list, path] of textOf(file).matchAll(/(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/g))
      for (const name of list!.split(',')) {
        const [original] = name
          .trim()
          .replace(/^type /, '')
          .split(' ')
        imported.add(`${normalize(join(dirname(file), path!))} ${original}`)
      }
  }
  const exported = names.flatMap((area) => namesOfDoor(area).map((name) => `${doorOf(area)} ${name}`))
  expect(exported.filter((each) => !imported.has(each))).toEqual([])
})

test('an area exports no more names to others than src/areas.ts says', () => {
  const grown = names.flatMap((area) => {
    const { length } = namesOfDoor(area)
    const { namesMax = 0 } = areas[area]!
    return length > namesMax ? [`${doorOf(area)} exports ${length} names, ${namesMax} before`] : []
  })
  expect(grown).toEqual([])
})

test('files that belong to a subject are in its folder, and not beside the subjects', () => {
  const grown = names.flatMap((area) => {
    const wholeArea = ['area.ts', 'base.ts', `${area}.ts`].map((name) => `${area}/${name}`)
    const others = files.filter((file) => areaOf(file) === area && !subjectOf(file) && !wholeArea.includes(file))
    const { filesMax = 0 } = areas[area]!
    return others.length > filesMax ? [`${others.length} other files, ${filesMax} before: ${others.join(', ')}`] : []
  })
  expect(grown).toEqual([])
})

/** Returns the files of each circle. A circle of types counts as well: neither file can be read without the other. */
function circlesOf(imports: Map<string, string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    const start = path.indexOf(file)
    if (start >= 0) circles.push(path.slice(start).join(' -> '))
    if (start >= 0 || done.has(file)) return
    for (const target of imports.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of imports.keys()) visit(file, [])
  return circles
}

test('no files import each other in a circle, also not types', () => {
  const folders = ['src', 'web/src', 'sdk/src', 'packages', 'test']
  const sources = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.d)\.tsx?$/.test(file) && !/(^|\/)(node_modules|dist)\//.test(file))
      .map((file) => join(folder, file)),
  )
  const imports = new Map(sources.map((file) => [file, importsIn(file, readFileSync(file, 'utf8'))]))
  expect(circlesOf(imports)).toEqual([])
})

test('only content/flows/liquid uses liquidjs, and only through its interface', () => {
  const inside = (file: string) => file.startsWith('content/flows/liquid/')
  const direct = files.filter((file) => !inside(file) && /from 'liquidjs'/.test(textOf(file)))
  const past = files.filter(
    (file) =>
      !inside(file) &&
      relativeImports(file).some((target) => inside(target) && target !== 'content/flows/liquid/liquid.ts'),
  )
  expect({ direct, past }).toEqual({ direct: [], past: [] })
})

test('what organizations share is created through the registry of stages', () => {
  const makers = new Set(['platform/runtime/stage-registry.ts', 'platform/db/cluster/batches.ts'])
  const direct = files.filter((file) => !makers.has(file) && /new (Stage|Batcher)\b/.test(textOf(file)))
  // Passwords are checked before it is known whose they are, and emails of broadcasts have a share by mail server.
  expect(direct).toEqual(['accounts/people/password-queue.ts'])
  const others = files.filter((file) => /class \w*(Semaphore|Slots|Shares|Limiter)\b/.test(textOf(file)))
  expect(others).toEqual(['broadcasts/sending/slots.ts'])
})

test('every source file is in an area and a subject of src/areas.ts, or is a wiring file', () => {
  const isListed = (file: string) => {
    const subject = subjectOf(file)
    return areaOf(file) in areas && (!subject || areas[areaOf(file)]!.subjects.includes(subject))
  }
  expect(files.filter((file) => !wiring.has(file) && file !== 'areas.ts' && !isListed(file))).toEqual([])
})

test('only platform/config/config.ts reads the environment', () => {
  expect(files.filter((file) => file !== 'platform/config/config.ts' && /process\.env\b/.test(textOf(file)))).toEqual(
    [],
  )
})

test('SQL is only in .sql.ts files, in the database folder, and in files that other folders use in their transactions', () => {
  const shared = new Set([
    'audience/contacts/eligibility.ts',
    'audience/contacts/history.ts',
    'audience/contacts/locks.ts',
    'sending/attempts/broadcast-messages.ts',
    'platform/queue/queue.ts',
    'platform/queue/settle-jobs.ts',
    'platform/queue/withdraw.ts',
    'platform/queue/hints.ts',
    'events/webhooks/event-deliveries.ts',
    'events/webhooks/fan-out.ts',
    'operations/commands/doctor-database.ts',
  ])
  const statement = /`\s*(?:with\s+\w+\s+as|select\s|insert\s+into|update\s+\w+\s|delete\s+from)/
  const wrong = files.filter(
    (file) =>
      !file.endsWith('.sql.ts') &&
      !file.startsWith('platform/db/') &&
      !shared.has(file) &&
      statement.test(textOf(file)),
  )
  expect(wrong).toEqual([])
})

test('packages import nothing of the service, and the service imports packages by name', () => {
  const packages = readdirSync('packages', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^[^/]+\/src\/.*\.ts$/.test(file),
  )
  const leaving = packages.filter((file) => {
    const [name] = file.split('/')
    const targets = importsIn(file, readFileSync(join('packages', file), 'utf8'))
    return targets.some((target) => !target.startsWith(`${name}/`))
  })
  const entering = files.filter((file) => /from\s+'[^']*packages\//.test(textOf(file)))
  expect({ leaving, entering }).toEqual({ leaving: [], entering: [] })
})

test('random choices of tests come from the seed of the run', () => {
  const tests = ['src', 'test', 'packages', 'sdk', 'web/src'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => !file.includes('node_modules') && /\.test\.tsx?$|(^|\/)support\/.*\.ts$/.test(file))
      .map((file) => join(folder, file)),
  )
  const chosen = ['test/support/seeded.ts', 'test/architecture.test.ts']
  expect(tests).toContain('test/support/seeded.ts')
  expect(
    tests.filter((file) => !chosen.includes(file) && /Math\.random|\brandomBytes\(/.test(readFileSync(file, 'utf8'))),
  ).toEqual([])
})

test('schemas are built with TypeBox itself: its package for Fastify loads 340 more modules at every start', () => {
  const loading = /^import (?!type )\{[^}]*\} from '@fastify\/type-provider-typebox'/m
  expect(files.filter((file) => loading.test(textOf(file)))).toEqual([])
})
