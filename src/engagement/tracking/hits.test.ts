import { pbkdf2 } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, expect, test } from 'vitest'
import type { NewEvent } from '../../events/recording/record.ts'
import { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { newId } from '../../platform/values/ids.ts'
import type { Entry } from './entries.ts'
import { Hits, type HitsParts } from './hits.ts'
import { Spool } from './spool.ts'

const home = mkdtempSync(join(tmpdir(), 'waxwing-hits-'))
const opened: Hits[] = []
afterAll(async () => {
  await Promise.all(opened.map((hits) => hits.close()))
  rmSync(home, { recursive: true, force: true })
})

const event = (): NewEvent => ({
  id: newId('evt'),
  organizationId: newId('org'),
  eventName: 'emailOpen',
  occurredAt: new Date(),
  messageId: newId('msg'),
  flowId: newId('flw'),
  contactId: newId('con'),
  machine: false,
  machineReason: null,
  data: { user_agent: 'Mail/1.0' },
})
const never = () => new Promise<never>(() => {})
const fault = (code: string) => Object.assign(new Error(code), { code })

let count = 0
/** Hits with a simulated database and a real spool. */
function start(change: Partial<HitsParts> = {}, spoolLimits = {}) {
  const written: Entry[] = []
  const rewritten: Entry[] = []
  const metrics = new Registry()
  const folder = join(home, String(count++))
  const logged: string[] = []
  const hits = new Hits({
    write: async (entry) => void written.push(entry),
    rewrite: async (entry) => void rewritten.push(entry),
    probe: async () => {},
    spool: new Spool(folder, new StageRegistry(), spoolLimits),
    log: pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line).msg) }),
    metrics,
    ...change,
  })
  opened.push(hits)
  const figure = async (name: string) => (await metrics.getSingleMetric(name)!.get()).values[0]?.value
  return { hits, written, rewritten, figure, folder, logged }
}

test('a committed entry is not spooled', async () => {
  const { hits, written, rewritten } = start()
  const entry = { event: event() }
  expect(await hits.record(entry)).toBe('recorded')
  await hits.replay()
  expect([written, rewritten]).toEqual([[entry], []])
})

test('an unresponsive database counts as unavailable and is not used until it responds', async () => {
  let asked = 0
  const write = () => {
    asked++
    return never()
  }
  const { hits, rewritten } = start({ write })
  const entries = [{ event: event() }, { event: event() }, { event: event() }]
  expect(await hits.record(entries[0]!)).toBe('spooled')
  expect(hits.isDatabaseDown).toBe(true)
  expect(await Promise.all(entries.slice(1).map((entry) => hits.record(entry)))).toEqual(['spooled', 'spooled'])
  expect(asked).toBe(1)
  await hits.replay()
  expect(hits.isDatabaseDown).toBe(false)
  expect(rewritten).toEqual(entries)
})

test('a hit waits longer for a busy database, until nothing is committed anymore', async () => {
  let nowMs = 1_000_000
  const slow = { event: event() }
  const write = (entry: Entry) => (entry === slow ? never() : Promise.resolve())
  const { hits } = start({ write, nowMs: () => nowMs })
  let kept: string | undefined
  const waiting = hits.record(slow).then((outcome) => (kept = outcome))
  const look = () => new Promise((resolve) => setTimeout(resolve, 100))
  for (let n = 0; n < 4; n++) {
    nowMs += 150
    await hits.record({ event: event() })
    await look()
  }
  expect([kept, hits.isDatabaseDown]).toEqual([undefined, false])
  nowMs += 250
  expect(await waiting).toBe('spooled')
  expect(hits.isDatabaseDown).toBe(true)
})

test('spooled entries stay while the database is unavailable', async () => {
  const { hits, rewritten } = start({
    write: () => Promise.reject(fault('ECONNREFUSED')),
    rewrite: () => Promise.reject(fault('57P03')),
  })
  expect(await hits.record({ event: event() })).toBe('spooled')
  await hits.replay()
  await hits.replay()
  expect([hits.isDatabaseDown, rewritten]).toEqual([true, []])
})

test('entries beyond the spool limit are counted as lost, and recovery is still detected', async () => {
  const { hits, figure } = start({ write: () => Promise.reject(fault('ECONNREFUSED')) }, { bytesMax: 10 })
  expect(await hits.record({ event: event() })).toBe('lost')
  expect(await figure('waxwing_hits_lost_total')).toBe(1)
  await hits.replay()
  expect(hits.isDatabaseDown).toBe(false)
})

test('entries that the database rejects are counted as lost and do not block the spool', async () => {
  const bad = { event: event() }
  const good = { event: event() }
  const taken: Entry[] = []
  const isBad = (entry: Entry) => 'event' in entry && entry.event.id === bad.event.id
  const { hits, figure } = start({
    write: () => Promise.reject(fault('08006')),
    rewrite: async (entry) => {
      if (isBad(entry)) throw fault('22P02')
      taken.push(entry)
    },
  })
  await Promise.all([hits.record(bad), hits.record(good)])
  await hits.replay()
  expect(taken).toEqual([good])
  expect(await figure('waxwing_hits_lost_total')).toBe(1)
})

const stuckFile = 'A spool file could not be replayed and is kept'

test('a file that cannot be replayed does not count as an outage and is logged once', async () => {
  let isAway = true
  const write = async () => {
    if (isAway) throw fault('ECONNREFUSED')
  }
  const { hits, folder, logged } = start({ write, rewrite: write })
  mkdirSync(join(folder, 'not-a-file.jsonl'), { recursive: true })
  expect(await hits.record({ event: event() })).toBe('spooled')
  await hits.replay()
  expect(hits.isDatabaseDown).toBe(true)
  isAway = false
  await hits.replay()
  await hits.replay()
  expect(hits.isDatabaseDown).toBe(false)
  expect(await hits.record({ event: event() })).toBe('recorded')
  expect(logged).toEqual(['The database is unavailable; hits go to the spool', stuckFile])
})

test('a hit that fails for another reason does not block others', async () => {
  const bad = { event: event() }
  const taken: Entry[] = []
  const { hits, folder, logged } = start({
    write: () => Promise.reject(fault('08006')),
    rewrite: async (entry) => {
      if ('event' in entry && entry.event.id === bad.event.id) throw fault('XX000')
      taken.push(entry)
    },
  })
  mkdirSync(folder)
  writeFileSync(join(folder, 'a.jsonl'), `${JSON.stringify(bad)}\n`)
  const good = { event: event() }
  await hits.record(good)
  await hits.replay()
  expect([taken, hits.isDatabaseDown, logged.at(-1)]).toEqual([[good], false, stuckFile])
})

test('a hit is spooled once, even if the disk takes longer than the database may take', async () => {
  const { hits, figure } = start({ write: () => Promise.reject(fault('08006')) })
  // File operations wait for a free thread of the pool, as they would for a slow disk.
  const busy = Array.from({ length: 16 }, () => promisify(pbkdf2)('x', 'y', 400_000, 64, 'sha512'))
  expect(await hits.record({ event: event() })).toBe('spooled')
  await Promise.all(busy)
  await hits.close()
  expect(await figure('waxwing_hits_spooled_total')).toBe(1)
})

test('a spool that is not writable is logged at startup, and afterwards only losses are', async () => {
  const { hits, folder, logged, figure } = start({ write: () => Promise.reject(fault('ECONNREFUSED')) })
  writeFileSync(folder, 'where the folder should be')
  await hits.checkSpool()
  expect(logged).toEqual(['The spool is not writable: hits are lost while the database is unavailable'])
  expect(await Promise.all([1, 2, 3].map(() => hits.record({ event: event() })))).toEqual(['lost', 'lost', 'lost'])
  for (let n = 0; n < 3; n++) await hits.replay()
  expect(hits.isDatabaseDown).toBe(false)
  expect(await figure('waxwing_hits_lost_total')).toBe(3)
  expect(logged.slice(1)).toEqual(['The database is unavailable; hits go to the spool', 'Hits were lost', stuckFile])
})

test('pending hits are spooled on shutdown', async () => {
  const { hits } = start({ write: never })
  const waiting = hits.record({ event: event() })
  await hits.close()
  expect(await waiting).toBe('spooled')
})

test('an entry that was spooled counts as lost once if the database rejects it later', async () => {
  let reject: (error: Error) => void = () => {}
  const { hits, figure } = start({
    write: () => new Promise((_, no) => (reject = no)),
    rewrite: async () => {
      throw fault('22P02')
    },
  })
  expect(await hits.record({ event: event() })).toBe('spooled')
  reject(fault('22P02'))
  await hits.replay()
  expect(await figure('waxwing_hits_lost_total')).toBe(1)
})
