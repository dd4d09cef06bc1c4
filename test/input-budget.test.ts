import { expect, test } from 'vitest'
import type { LoopBlock } from '../src/platform/runtime/event-loop.ts'
import { threadCpuMs } from '../src/platform/runtime/thread-cpu.ts'
import { type ApiInput, type ApiOperation, apiInputs, call, operations, resolve } from './support/api-inputs.ts'
import { bounceAddress } from './support/hostile-bounces.ts'
import { sampleOf } from './support/schema-inputs.ts'
import { announcedSeed, askedMinutes } from './support/seeded.ts'
import { converse, smtpInputs } from './support/smtp-inputs.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { startVictim, type Victim } from './support/victim.ts'

/*
 * For each operation of the API document and each stage of SMTP, sends inputs of the largest permitted size, and fails if
 * the event loop of the service was blocked, also if ten of the worst of them arrive at the same time. What takes longer
 * than this goes to a task process or through the pacer. A new route is covered without being named here.
 */

/** Selects operations and inputs of SMTP by name, of which all inputs are sent. */
const only = process.env.TEST_ONLY

/** CPU time is measured from one tick of the monitor to the next, so it includes as much before the block. */
const tickMs = 50
/** Of CPU time of the main thread, on a machine that does `calibrate` in `referenceMs`. */
const blockMsMax = 100
/**
 * What an input takes is the least of these measurements. Collecting garbage of earlier inputs, compiling code that
 * runs for the first time, and other programs that use the caches of the processor only add to it.
 */
const measurements = 3
const referenceMs = 100
const blocksShown = 15
/** Of the worst inputs of an operation: the one that took longest, and the one with the most names. */
const callersAtOnce = 10
const manyNames = 'as many unknown fields as are parsed'
/** Of another organization, in long runs. */
const waitMsMax = 250
/** Bodies in short runs have at most this size. */
const sizes = askedMinutes ? [26_000_000, 16_000_000, 5_000_000, 1_000_000, 128_000] : [1_000_000, 128_000]
const isWhole = askedMinutes !== undefined || only !== undefined
const inputsOfOperation = isWhole ? Number.POSITIVE_INFINITY : 1
/** Chosen by the seed of the run. */
const operationsOfRun = isWhole ? Number.POSITIVE_INFINITY : 60
const inputsOfSmtp = isWhole ? Number.POSITIVE_INFINITY : 8
const bodyBytes = askedMinutes ? 24_000_000 : 2_000_000

const timeout = longTestMsMax.attacks(askedMinutes)

test('no input of the permitted size blocks the event loop', { timeout }, async () => {
  const random = announcedSeed('inputs')
  const before = calibrate()
  await using victim = await startVictim()
  const monitor = blockMonitor(victim)
  const world = await prepare(victim)
  // Schemas are compiled and libraries are loaded when they are first used.
  const first = operations()
  const client = async () => {
    for (let operation = first.pop(); operation; operation = first.pop()) await world.send(operation, {})
  }
  await Promise.all(Array.from({ length: 8 }, client))
  await monitor.settled()
  monitor.start()
  let deadline = performance.now() + ((askedMinutes ?? 0) * 60_000) / 2
  for (const operation of random.shuffled(operations()).slice(0, operationsOfRun)) {
    if (only && !`${operation.method} ${operation.path}`.includes(only)) continue
    const bytes = operation.body ? await largest(world, operation) : 0
    const inputs = [...apiInputs(operation, { known: world.known, bytes, random })]
    const send = async (input: ApiInput, callers: number) => {
      const startedAt = performance.now()
      await monitor.send(async () => {
        const { query } = input
        const body = input.body?.()
        const sent = await Promise.all(Array.from({ length: callers }, () => world.send(operation, { query, body })))
        const times = callers > 1 ? `${callers} times ` : ''
        const statuses = [...new Set(sent.map(({ status }) => status))]
        return `${operation.method} ${operation.path}: ${times}${input.name}, ${(body ?? query)?.length} characters: ${statuses}`
      })
      return performance.now() - startedAt
    }
    let slowest: ApiInput | undefined
    let slowestMs = 0
    for (const input of random.shuffled(inputs).slice(0, inputsOfOperation)) {
      if (askedMinutes && performance.now() > deadline) break
      const ms = await send(input, 1)
      if (ms <= slowestMs) continue
      slowest = input
      slowestMs = ms
    }
    // Each is short enough, but several may be handled without a pause.
    const named = inputs.find(({ name }) => name === manyNames)
    for (const input of new Set([named, slowest])) if (input) await send(input, callersAtOnce)
  }
  deadline += ((askedMinutes ?? 0) * 60_000) / 2
  const login = ['EHLO x\r\n', `AUTH PLAIN ${Buffer.from(`\0x\0${victim.attacker.apiKey}`).toString('base64')}\r\n`]
  const listeners = [
    { port: victim.submissionPort, target: { login, recipient: 'ada@example.com', bodyBytes } },
    { port: victim.bouncePort, target: { login: ['EHLO x\r\n'], recipient: bounceAddress(victim), bodyBytes } },
  ]
  for (const { port, target } of listeners)
    for (const input of random.shuffled([...smtpInputs(target, random)]).slice(0, inputsOfSmtp)) {
      if (only && !`SMTP ${input.name}`.includes(only)) continue
      if (askedMinutes && performance.now() > deadline) break
      await monitor.send(async () => {
        const code = await converse(port, input.parts())
        return `${port === victim.submissionPort ? 'submission' : 'bounce'} ${input.name}: ${code}`
      })
    }
  await monitor.settled()
  const slowness = Math.max(1, before / referenceMs, calibrate() / referenceMs)
  const msMax = (blockMsMax + tickMs) * slowness
  const blocks = monitor.blocks()
  const slow: string[] = []
  for (const block of blocks) if (block.ms > msMax && (await leastOf(monitor, block)) > msMax) slow.push(block.text)
  const stalls = await victim.stalls()
  victim.service.pid()
  expect(stalls.failed).toEqual([])
  console.info(`slowness ${slowness.toFixed(1)}, other organization p99 ${stalls.p99} ms, max ${stalls.max} ms`)
  for (const { text } of blocks.slice(0, blocksShown)) console.info(text)
  expect(slow).toEqual([])
  if (askedMinutes) expect(stalls.p99).toBeLessThan(waitMsMax * slowness)
})

/** Sends the inputs that may have caused a block again. Returns the least time of all blocks by them. */
async function leastOf(monitor: Monitor, { ms, inputs }: Block): Promise<number> {
  let least = ms
  for (let count = 1; count < measurements; count++) {
    monitor.start()
    const repeated: boolean[] = []
    for (const { name, send } of inputs) repeated.push((await monitor.send(send)) === name)
    await monitor.settled()
    // An input that is answered differently the second time may not do the same work.
    if (repeated.every(Boolean)) least = Math.min(least, monitor.blocks()[0]?.ms ?? 0)
  }
  return least
}

/** Returns the CPU time of a fixed work in milliseconds. */
function calibrate(): number {
  const run = () => {
    const startedAt = threadCpuMs()
    const value = JSON.parse(calibration) as Record<string, string>
    for (const name in value) if (/^\d+y$/.test(name)) value[name] += name
    JSON.stringify(value)
    return threadCpuMs() - startedAt
  }
  return Math.min(run(), run(), run(), run())
}

const calibration = JSON.stringify(
  Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`${at}`.padEnd(20, 'x'), 'x'.repeat(20)])),
)

/** What was sent, with its answer. `send` sends it again, and returns the name of what was answered then. */
type Input = { name: string; send: () => Promise<string> }
/** `inputs`: those that may have caused it. */
type Block = { ms: number; text: string; inputs: Input[] }
type Monitor = ReturnType<typeof blockMonitor>

/** Reads the blocks that the service logs. A block is logged after the input that caused it, and before the one after the next. */
function blockMonitor(victim: Victim) {
  let start = 0
  const sent: (Input & { at: number })[] = []
  return {
    start: () => {
      start = victim.service.output().length
    },
    send: async (send: Input['send']) => {
      const name = await send()
      sent.push({ at: victim.service.output().length, name, send })
      return name
    },
    /** Resolves when what was blocked is logged: the service responds, and its timers run. */
    settled: async () => {
      for (let at = 0; at < 5; at++) await call({ method: 'GET', url: `${victim.url}/health`, headers: {} })
      const length = victim.service.output().length
      sent.push({ at: length, name: 'later', send: async () => 'later' })
    },
    blocks: () => {
      const output = victim.service.output()
      const found: Block[] = []
      for (const match of output.slice(start).matchAll(/^\{.*The event loop was blocked.*$/gm)) {
        const { section, ms, cpuMs } = JSON.parse(match[0]) as LoopBlock
        // The output arrives some time after it was written.
        const next = sent.findIndex(({ at }) => at >= start + match.index)
        const near = sent.slice(Math.max(0, next - 3), next + 1)
        const route = section.replace(/:(\w+)/g, '{$1}')
        const named = near.filter(({ name }) => name.startsWith(`${route}: `) || name.startsWith(`${section} `))
        const inputs = named.length > 0 ? named : near
        found.push({
          ms: Math.min(ms, cpuMs),
          inputs,
          text: `${section} blocked ${ms} ms (${cpuMs} ms CPU), after ${inputs.map(({ name }) => name).join(' or ')}`,
        })
      }
      return found.sort((a, b) => b.ms - a.ms)
    },
  }
}

type World = Awaited<ReturnType<typeof prepare>>

/** Calls operations as the attacker, with an object of each kind that can be created. */
async function prepare(victim: Victim) {
  let { session } = victim.attacker
  const ids = new Map<string, string>()
  const collection = (kind: string) => `/api/v1/organization/${kind}s`
  const known = (name: string) => {
    const kind = /^(.*)_ids?$/.exec(name)?.[1]
    return kind ? ids.get(collection(kind)) : undefined
  }
  const headersOf = ({ credential, body }: ApiOperation): Record<string, string> => ({
    ...(credential === 'session' && { authorization: `Bearer ${session}` }),
    ...(credential === 'apiKey' && {
      'x-api-token': victim.attacker.apiKey,
      authorization: `Bearer ${victim.attacker.apiKey}`,
    }),
    ...(body && { 'content-type': body.type, accept: 'application/json, text/event-stream' }),
  })
  const send = async (
    operation: ApiOperation,
    { query, body }: { query?: string | undefined; body?: string | undefined },
  ) => {
    const path = await pathOf(operation.path)
    const sample = () => JSON.stringify(sampleOf(operation.body!.schema, resolve, known))
    const sent = async () =>
      call({
        method: operation.method,
        url: `${victim.url}${path}${query ? `?${query}` : ''}`,
        headers: headersOf(operation),
        body: operation.body && (body ?? sample()),
      })
    const answer = await sent()
    if (answer.status !== 401 || operation.credential !== 'session') return answer
    // An operation may have ended the session.
    session = (await signIn()).session
    return sent()
  }
  const signIn = async () => {
    const credentials = { email: 'attacker@example.com', password: 'correct horse battery' }
    const { text } = await call({
      method: 'POST',
      url: `${victim.url}/api/v1/auth/login`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    })
    return { session: JSON.parse(text).data?.token ?? session }
  }
  const all = operations()
  /** Creates an object in a collection, or finds one. */
  const idIn = async (path: string): Promise<string> => {
    const found = ids.get(path)
    if (found) return found
    ids.set(path, 'x_00000000000000000000000000')
    const created = async (isFull: boolean) => {
      const operation = all.find((each) => each.path === path && each.method === 'POST')
      if (operation?.body?.type !== 'application/json') return undefined
      const body = JSON.stringify(sampleOf(operation.body.schema, resolve, known, isFull))
      return JSON.parse((await send(operation, { body })).text || '{}').data?.id
    }
    const listed = async () => {
      const operation = all.find((each) => each.path === path && each.method === 'GET')
      return operation && JSON.parse((await send(operation, {})).text || '{}').data?.[0]?.id
    }
    const id = (await created(false)) ?? (await created(true)) ?? (await listed())
    if (typeof id === 'string') ids.set(path, id)
    return ids.get(path)!
  }
  const pathOf = async (template: string): Promise<string> => {
    const parameter = /\/\{\w+\}/.exec(template)
    if (!parameter) return template
    const start = template.slice(0, parameter.index)
    const value = /version|position/.test(parameter[0]) ? '1' : await idIn(start)
    return pathOf(`${start}/${encodeURIComponent(value)}${template.slice(parameter.index + parameter[0].length)}`)
  }
  for (const kind of ['flow', 'group', 'contact', 'segment']) await idIn(collection(kind))
  return { known, send }
}

/** Returns the largest size of a body that is not too large. */
async function largest(world: World, operation: ApiOperation): Promise<number> {
  for (const size of sizes) {
    const text = operation.body!.type.includes('json')
      ? `{"x":"${'x'.repeat(size - 10)}"}`
      : `email\n${'x'.repeat(size - 6)}`
    const { status } = await world.send(operation, { body: text })
    if (status !== 413 && status !== 0) return size
  }
  return 64_000
}
