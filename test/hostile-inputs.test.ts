import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { LoopBlock } from '../src/platform/runtime/event-loop.ts'
import { hostileAvailability } from './support/hostile-availability.ts'
import { hostileBroadcasts } from './support/hostile-broadcasts.ts'
import type { HostileInput } from './support/hostile-calls.ts'
import { hostileInputs } from './support/hostile-inputs.ts'
import { announcedSeed, askedMinutes } from './support/seeded.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { type BroadcastVictim, type Stalls, startBroadcastVictim, startVictim, type Victim } from './support/victim.ts'

/**
 * Limit for blocks of the event loop in CPU time, because wall time is too noisy in tests. Without protection these
 * inputs block it for many seconds or crash the process. `npm run test:hostile` repeats them at full size and prints
 * the 99th percentile of the other tenant, which is below 100 ms on a quiet machine.
 */
const blockCpuMsMax = 3_000
const memoryMiBMax = 1_500
/** Of the other tenant in long runs, on a quiet machine with two cores. */
const healthMsMax = 250
const sendMsMax = 1_000
const shortRow = 'availability: unknown fields'
const shortScale = 0.25
/** The part of the inputs that a short run fires, chosen by its seed. */
const shortShare = 1 / 3
const blocksShown = 15
const only = process.env.TEST_ONLY

type Line = Stalls & { name: string; seconds: number; answers: string; memory: number }

const timeout = longTestMsMax.attacks(askedMinutes)

test('no hostile input blocks the service for another tenant', { timeout }, async () => {
  await using victim = await startVictim()
  await victim.database.db.statement`
    insert into contacts (organization_id, id, email, email_key, first_name, subscription)
    select ${victim.attacker.organizationId}, gen_random_uuid(), 'c' || n || '@example.com', 'c' || n || '@example.com', 'C', 'subscribed'
    from generate_series(1, ${askedMinutes ? 400_000 : 20_000}) n`
  expect(await attack(victim, hostileInputs)).toEqual([])
})

test('no hostile broadcast or bulk action blocks the service for another tenant', { timeout }, async () => {
  await using victim = await startBroadcastVictim()
  const wrong = await attack(victim, hostileBroadcasts, () => slowNotes(victim), delays)
  expect(wrong).toEqual([])
})

test('no organization delays another one', { timeout }, async () => {
  await using victim = await startBroadcastVictim()
  // In short runs, the machine is shared with other tests, and the largest inputs would take minutes.
  const inputs =
    askedMinutes || only ? hostileAvailability : hostileAvailability.filter(({ name }) => name === shortRow)
  const wrong = await attack(victim, inputs, () => slowNotes(victim), delays)
  expect(wrong).toEqual([])
})

/** Returns how the other tenant was delayed. In short runs, the machine is shared with other tests. */
const delays = ({ healthP99, sendP99, refused }: Stalls): string[] =>
  askedMinutes && (healthP99 > healthMsMax || sendP99 > sendMsMax || refused > 0)
    ? [`/health p99 ${healthP99} ms, send p99 ${sendP99} ms, ${refused} refused`]
    : []

/** Returns what took too long, and prints all. */
function slowNotes(victim: BroadcastVictim): string[] {
  const notes = victim.notes()
  for (const { what, ms } of notes) console.info(`  ${what}: ${ms} ms`)
  // In short runs, the machine is shared with other tests.
  return askedMinutes ? notes.filter(({ ms, msMax }) => ms > msMax).map(({ what, ms }) => `${what}: ${ms} ms`) : []
}

/** Fires the inputs, in a long run for half of its time. Returns what went wrong. */
async function attack<Attacked extends Victim>(
  victim: Attacked,
  inputs: HostileInput<Attacked>[],
  afterEach: () => string[] = () => [],
  problemsOf: (stalls: Stalls) => string[] = () => [],
): Promise<string[]> {
  const random = announcedSeed('hostile inputs')
  await sleep(1_000)
  console.info(
    written({ name: '(nothing)', seconds: 1, answers: '', memory: victim.memoryMax(), ...(await victim.stalls()) }),
  )
  const wrong: string[] = []
  const isWhole = askedMinutes !== undefined || only !== undefined
  const chosen = isWhole ? inputs : random.shuffled(inputs).slice(0, Math.ceil(inputs.length * shortShare))
  const deadline = performance.now() + ((askedMinutes ?? 0) * 60_000) / 2
  do {
    for (const { name, fire } of chosen) {
      if (only && !name.includes(only)) continue
      const variant = random.fork()
      const startedAt = performance.now()
      const answers = await fire(victim, variant, askedMinutes ? 1 : shortScale)
      const stalls = await victim.stalls()
      victim.service.pid()
      const line = {
        name,
        seconds: Math.round((performance.now() - startedAt) / 100) / 10,
        answers: tally(answers),
        memory: victim.memoryMax(),
        ...stalls,
      }
      console.info(written(line))
      wrong.push(
        ...[...afterEach(), ...problemsOf(stalls)].map((fault) => `${name}: ${fault} (variant ${variant.seed})`),
      )
      const faults = answers.filter((status) => status >= 500 && status !== 503)
      if (faults.length > 0) wrong.push(`${name}: answered ${tally(faults)} (variant ${variant.seed})`)
      if (stalls.failed.length > 0)
        wrong.push(`${name}: the other tenant got ${stalls.failed.slice(0, 5)} (variant ${variant.seed})`)
      if (line.memory > memoryMiBMax) wrong.push(`${name}: ${line.memory} MiB (variant ${variant.seed})`)
    }
  } while (performance.now() < deadline)
  const blocks = longestBlocks(victim.service.output())
  console.info(blocks.map(({ section, ms, cpuMs }) => `blocked ${ms} ms (${cpuMs} ms CPU) by ${section}`).join('\n'))
  wrong.push(
    ...blocks
      .filter(({ ms, cpuMs }) => Math.min(ms, cpuMs) > blockCpuMsMax)
      .map(({ section }) => `blocked by ${section}`),
  )
  return wrong
}

const written = ({ name, seconds, answers, memory, p99, max, calls, healthP99, sendP50, sendP99, refused }: Line) =>
  `${name.padEnd(56)} ${String(seconds).padStart(6)} s  p99 ${String(p99).padStart(6)} ms  max ${String(max).padStart(6)} ms  ${String(calls).padStart(5)} calls  /health p99 ${String(healthP99).padStart(6)} ms  send p50 ${String(sendP50).padStart(6)} p99 ${String(sendP99).padStart(6)} ms  ${refused} refused  ${String(memory).padStart(5)} MiB  ${answers}`

/** Returns the logged blocks of the event loop, longest first. */
function longestBlocks(output: string): LoopBlock[] {
  const blocks: LoopBlock[] = [...output.matchAll(/^\{.*The event loop was blocked.*$/gm)].map(([line]) =>
    JSON.parse(line),
  )
  return blocks.sort((a, b) => b.ms - a.ms).slice(0, blocksShown)
}

function tally(statuses: number[]): string {
  const counts = new Map<number, number>()
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${count}×${status}`).join(' ')
}
