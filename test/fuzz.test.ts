import { expect, test } from 'vitest'
import {
  type FuzzCase,
  type FuzzContext,
  type KnownIds,
  mailgunKey,
  makeCase,
  operationsOf,
  postmarkToken,
} from './support/fuzz/cases.ts'
import { runCase, shrink } from './support/fuzz/run-case.ts'
import { announcedSeed, askedMinutes } from './support/seeded.ts'
import { callUrl } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { startVictim, type Victim } from './support/victim.ts'

/** `npm run fuzz -- --minutes 10 --seed 7` for a long run. */
/** A number instead of a time, so that slow machines run the same cases. */
const casesInShortForm = 400
const atOnce = 4
const caseTextMax = 1_500
/** Limits of the long run. The short run shares the machine with other tests and has higher limits. */
const stallCpuMsMax = askedMinutes ? 250 : 2_500
const casesKept = 40
const findingsMax = 10

const isFault = (status: number) => status >= 500 && status !== 503

test('no generated input makes the service fail, stall or exit', {
  timeout: longTestMsMax.attacks(askedMinutes),
}, async () => {
  const random = announcedSeed('fuzz')
  await using victim = await startVictim({
    PROVIDER_MAILGUN_KEY: mailgunKey,
    PROVIDER_POSTMARK_TOKEN: postmarkToken,
    PROVIDER_SES_TOPICS: 'arn:aws:sns:eu-west-1:1:fuzz',
  })
  const document = (await callUrl('GET', `${victim.url}/openapi.json`)).body
  const context: FuzzContext = { victim, operations: operationsOf(document), ids: await createSubjects(victim) }
  const deadline = performance.now() + (askedMinutes ?? 0) * 60_000
  let casesLeft = casesInShortForm
  const isOver = () => (askedMinutes ? performance.now() >= deadline : casesLeft-- <= 0)
  const findings = new Map<string, string>()
  const recent: { seed: number; fuzzCase: FuzzCase }[] = []
  const answers = new Map<number, number>()

  const fuzz = async () => {
    while (findings.size < findingsMax && !isOver()) {
      const own = random.fork()
      const fuzzCase = makeCase(context, own)
      recent.push({ seed: own.seed, fuzzCase })
      if (recent.length > casesKept) recent.shift()
      const status = await runCase(victim, fuzzCase)
      answers.set(status, (answers.get(status) ?? 0) + 1)
      victim.service.pid()
      if (!isFault(status)) continue
      const name = `${status} ${
        fuzzCase.kind === 'http'
          ? `${fuzzCase.method} ${fuzzCase.path
              .split('?')[0]!
              .replace(/\w{3}_\w{20,}/g, ':id')
              .slice(0, 80)}`
          : fuzzCase.kind
      }`
      if (findings.has(name)) continue
      findings.set(name, '')
      const shortest = await shrink(fuzzCase, async (smaller) => isFault(await runCase(victim, smaller)))
      findings.set(name, `case ${own.seed}: ${shown(shortest, victim)}`)
    }
  }
  let ended: unknown
  try {
    await Promise.all(Array.from({ length: atOnce }, fuzz))
    victim.service.pid()
  } catch (error) {
    ended = error
  }
  for (const { section, cpuMs, ms } of blocksOf(victim.service.output()))
    if (Math.min(ms, cpuMs) > stallCpuMsMax) findings.set(`stall of ${ms} ms (${cpuMs} ms CPU) in ${section}`, '')

  console.info(
    `${[...answers.values()].reduce((sum, count) => sum + count, 0)} cases, answers: ${[...answers].map(([status, count]) => `${count}×${status}`).join(' ')}; ${victim.memoryMax()} MiB`,
  )
  for (const [name, detail] of findings) console.info(`${name}\n    ${detail}`)
  if (ended || findings.size > 0)
    console.info(
      `Last cases:\n${recent.map(({ seed, fuzzCase }) => `    ${seed}: ${shown(fuzzCase, victim)}`).join('\n')}`,
    )
  expect(ended).toBeUndefined()
  expect([...findings.keys()]).toEqual([])
})

/** Creates one record of each kind that occurs in paths, so that requests do not all end with a 404. */
async function createSubjects({ attacker }: Victim): Promise<KnownIds> {
  const create = async (path: string, body: object): Promise<string[]> => {
    const { body: created } = await attacker.manage('POST', `/organization${path}`, body)
    return created?.data?.id ? [created.data.id] : []
  }
  return {
    groups: await create('/groups', { name: 'Fuzz' }),
    contacts: await create('/contacts', { email: 'fuzz@example.com' }),
    flows: await create('/flows', { name: 'Fuzz', kind: 'transactional', subject: 'x', html: '<p>{{ a }}</p>' }),
    webhooks: await create('/webhooks', { name: 'Fuzz', url: 'http://127.0.0.1:9/', all_events: true }),
  }
}

const blocksOf = (output: string): { section: string; cpuMs: number; ms: number }[] =>
  [...output.matchAll(/^\{.*The event loop was blocked.*$/gm)].map(([line]) => JSON.parse(line))

function shown(fuzzCase: FuzzCase, { attacker }: Victim): string {
  const text = JSON.stringify(fuzzCase).replaceAll(attacker.session, 'SESSION').replaceAll(attacker.apiKey, 'KEY')
  return text.length > caseTextMax ? `${text.slice(0, caseTextMax)}… (${text.length} characters)` : text
}
