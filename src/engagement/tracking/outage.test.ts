import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { expect, test } from 'vitest'
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.ts'
import { clickPath, startWithReader, tokens } from '../../../test/support/readers.ts'
import { callUrl } from '../../../test/support/test-app.ts'
import type { TestDb } from '../../../test/support/test-db.ts'
import { until } from '../../../test/support/until.ts'
import { openDb } from '../../platform/db/db.ts'
import { statementChannelName } from '../../platform/db/statement-channel.ts'

/** A service whose database can go away, and the links of a mail. */
async function startBehindProxy(options: { log?: Logger } = {}) {
  const way: { proxy?: DatabaseProxy } = {}
  const openFor = async ({ connection }: TestDb) => {
    way.proxy = await startDatabaseProxy(connection as { host: string; port: number })
    return openDb({ connection: way.proxy.connection })
  }
  const app = await startWithReader({}, {}, { openFor, ...options })
  const proxy = way.proxy!
  const click = clickPath(app.ids, 'https://shop.example/')
  const spool = join(app.config.DATA_DIR, 'spool')
  const stop = app[Symbol.asyncDispose]
  return Object.assign(app, {
    proxy,
    open: `/t/o/${tokens.sign('email', app.ids)}`,
    click,
    leave: `/u/${tokens.sign('unsubscribe_link', app.ids)}`,
    spooled: () => (existsSync(spool) ? readdirSync(spool) : []),
    figure: async (name: string) =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await app.get('/metrics')).text)?.[1]),
    [Symbol.asyncDispose]: async () => {
      await proxy.heal()
      await stop()
      await proxy[Symbol.asyncDispose]()
    },
  })
}

test.each(['cut', 'hang'] as const)(
  'readers are served while the database is away (%s), and their hits are recorded when it is back',
  async (kind) => {
    await using app = await startBehindProxy()
    await app.get(app.open)
    await app.proxy[kind]()
    const answers = await Promise.all([app.get(app.open), app.get(app.click), app.get(app.open)])
    expect(answers.map(({ status }) => status)).toEqual([200, 302, 200])
    const later = await app.get(app.click)
    expect(later.headers.get('location')).toBe('https://shop.example/')
    expect(app.spooled()).not.toEqual([])

    await app.proxy.heal()
    expect(await app.figure('waxwing_hits_spooled_total')).toBeGreaterThanOrEqual(4)
    expect(await app.figure('waxwing_hits_lost_total')).toBe(0)
    const events = await app.events()
    expect(events.map(({ eventName }) => eventName).sort()).toEqual([
      'emailClick',
      'emailClick',
      'emailOpen',
      'emailOpen',
      'emailOpen',
    ])
    await until('hits to go to the database again', async () => {
      const before = await app.figure('waxwing_hits_spooled_total')
      await app.get(app.open)
      return before === (await app.figure('waxwing_hits_spooled_total'))
    })
  },
)

test('an unsubscription during an outage takes effect when the database is back', async () => {
  await using app = await startBehindProxy()
  await app.proxy.cut()
  expect((await app.get(app.leave)).text).toContain('Unsubscribe?')
  const answer = await callUrl('POST', `${app.url}${app.leave}`, { raw: 'List-Unsubscribe=One-Click' })
  expect([answer.status, answer.text.includes('You’ve been unsubscribed')]).toEqual([200, true])
  const undo = await callUrl('POST', `${app.url}${app.leave}/undo`)
  expect([undo.status, undo.headers.get('retry-after')]).toEqual([503, '5'])
  await app.proxy.heal()
  expect(await app.events()).toMatchObject([{ eventName: 'contactUnsubscribe', data: { method: 'one_click' } }])
  expect(await app.subscription()).toBe('unsubscribed')
})

test('a repeated replay records nothing twice', async () => {
  await using app = await startBehindProxy()
  await app.proxy.cut()
  await app.get(app.open)
  await app.get(app.open)
  // A crash between the commit and the removal of the file leaves the file.
  const folder = join(app.config.DATA_DIR, 'spool')
  for (const name of app.spooled()) cpSync(join(folder, name), join(folder, 'left-behind.replay'))
  await app.proxy.heal()
  expect(await app.events()).toHaveLength(2)
})

test('an unreadable spool file does not block others', async () => {
  await using app = await startBehindProxy()
  const folder = join(app.config.DATA_DIR, 'spool')
  mkdirSync(join(folder, '0.jsonl'), { recursive: true })
  const recorded = async (count: number) => {
    const [row] = await app.db<{ count: number }>`select count(*) from events where event_name = 'emailOpen'`
    return row!.count === count
  }
  await app.proxy.cut()
  expect((await app.get(app.open)).status).toBe(200)
  await app.proxy.heal()
  await until('what was spooled to be recorded', () => recorded(1))
  expect((await app.get(app.open)).status).toBe(200)
  await until('what came later to be recorded', () => recorded(2))
  await until('all but that file to be gone', () => app.spooled().join() === '0.replay')
})

test('without database and spool, links still redirect and losses are counted', async () => {
  await using app = await startBehindProxy()
  rmSync(join(app.config.DATA_DIR, 'spool'), { recursive: true })
  writeFileSync(join(app.config.DATA_DIR, 'spool'), 'where the folder should be')
  await app.proxy.cut()
  const click = await app.get(app.click)
  expect([click.status, click.headers.get('location')]).toEqual([307, 'https://shop.example/'])
  expect((await app.get(app.open)).status).toBe(503)
  const leave = await callUrl('POST', `${app.url}${app.leave}`, { raw: '' })
  expect([leave.status, leave.text.includes('Please try again in a moment')]).toEqual([503, true])
  expect(await app.figure('waxwing_hits_lost_total')).toBe(3)
})

test('metrics work and readiness fails while the database is unresponsive', async () => {
  await using app = await startBehindProxy()
  app.proxy.hang()
  const [metrics, ready] = await Promise.all([app.get('/metrics'), app.get('/ready')])
  expect(metrics.text).toContain('waxwing_ready{check="database"} 0')
  expect(metrics.text).toContain('waxwing_ready{check="disk"} 1')
  // A comparison with NaN is never true, so that alerts would not fire.
  expect(metrics.text).not.toMatch(/ nan$/im)
  expect(metrics.text).toContain('process_resident_memory_bytes')
  expect(ready.status).toBe(503)
})

test('an outage of the database is logged once, with its end, however often it is noticed', async () => {
  const lines: { level: number; msg: string; failures?: number; reason?: string }[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  await using app = await startBehindProxy({ log })
  // Its key is confirmed every two seconds.
  expect((await app.publicApi('GET', '/token/check')).status).toBe(200)
  lines.length = 0
  await app.proxy.cut()
  let statements = 0
  const count = () => void statements++
  subscribe(statementChannelName, count)
  const noticed = await until('the outage', () =>
    lines.find(({ msg }) => msg.startsWith('The database is unavailable')),
  )
  expect(noticed).toMatchObject({ level: 50, failures: 1 })
  await until('workers and loops to fail again and again', () => statements > 100)
  unsubscribe(statementChannelName, count)
  await app.proxy.heal()
  const ended = await until('the end', () => lines.find(({ msg }) => msg === 'The database is available again'))
  expect(ended.failures).toBeGreaterThan(20)
  expect(lines.map(({ msg }) => msg)).toEqual([noticed.msg, ended.msg])
})
