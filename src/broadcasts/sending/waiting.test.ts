import { expect, test } from 'vitest'
import { emails, fill } from '../../../test/support/broadcasts.ts'
import { addMailServer } from '../../../test/support/mail-servers.ts'
import { startRelay } from '../../../test/support/relay.ts'
import { freePort } from '../../../test/support/service.ts'
import { startTestApp } from '../../../test/support/test-app.ts'
import { until } from '../../../test/support/until.ts'
import { dayMs, hourMs } from '../../platform/values/durations.ts'
import { weekdays } from '../../platform/values/weekly-window.ts'

type Wait = { cause: string; recipients: number | null; detail: string | null; until: string | null }
type Broadcast = Awaited<ReturnType<Awaited<ReturnType<typeof fill>>['create']>>

const midnight = () => new Date((Math.floor(Date.now() / dayMs) + 1) * dayMs).toISOString()

/** Starts a broadcast, and returns what it waits for once it does. */
async function waitsOf({ start, get, act }: Broadcast): Promise<Wait[]> {
  expect((await start()).status).toBe(202)
  const waiting = await until('the wait', async () => {
    const { waiting } = await get()
    return waiting.length > 0 && waiting
  })
  await act('cancel')
  expect((await get()).waiting).toEqual([])
  return waiting
}

test('a broadcast names the limit, the rate or the hours that it waits for, with the end', async () => {
  await using relay = await startRelay()
  await using app = await startTestApp()
  await addMailServer(app, { name: 'Main', url: relay.url, messages_per_day: 4 })
  const { group, create } = await fill(app)
  const readers = await group('Readers', emails('a', 6))
  const everyone = { recipients: null, detail: null }
  expect((await (await create([readers])).get()).waiting).toEqual([])

  const slow = await waitsOf(await create([readers], { messages_per_hour: 2 }))
  expect(slow).toEqual([{ ...everyone, cause: 'messages_per_hour', detail: '2', until: expect.any(String) }])
  expect(Date.parse(slow[0]!.until!)).toBeGreaterThan(Date.now() + hourMs / 4)

  const today = new Date().getUTCDay()
  const closed = weekdays.filter((_, at) => at !== (today + 6) % 7 && at !== (today + 7) % 7)
  const window = { days: closed, from: '08:00', to: '18:00' }
  const hours = await waitsOf(await create([readers], { schedule: { time_zone: 'UTC', window } }))
  expect(hours).toEqual([{ ...everyone, cause: 'sending_hours', until: expect.stringMatching(/T08:00:00\.000Z$/) }])

  const limited = await waitsOf(await create([readers]))
  expect(limited).toEqual([{ ...everyone, cause: 'daily_limit', detail: 'Main', until: midnight() }])
  expect(relay.mails).toHaveLength(4)
})

test('while no mail server of the organization accepts email, a broadcast says why and when it is tried again', async () => {
  await using app = await startTestApp()
  await addMailServer(app, { name: 'Gone', url: `smtp://127.0.0.1:${await freePort()}` })
  const { group, create } = await fill(app)
  const waits = await waitsOf(await create([await group('Readers', emails('a', 3))]))
  expect(waits).toEqual([
    {
      cause: 'mail_server_unreachable',
      recipients: null,
      detail: expect.stringMatching(/^Gone: .*refused/i),
      until: expect.any(String),
    },
  ])
})

test('emails that are tried again are counted, with the reply of most of them', async () => {
  await using relay = await startRelay()
  relay.onData = ({ recipient }) => ({ code: 451, text: recipient.startsWith('a00000') ? 'busy' : 'greylisted' })
  await using app = await startTestApp({ SMTP_URL: relay.url, MAIL_RETRY_DELAYS: '600' })
  const { group, create } = await fill(app)
  const broadcast = await create([await group('Readers', emails('a', 3))])
  await broadcast.start()
  const waiting: Wait[] = await until('all deferrals', async () => {
    const { waiting } = await broadcast.get()
    return waiting[0]?.recipients === 3 && waiting
  })
  expect(waiting).toEqual([{ cause: 'deferred', recipients: 3, detail: '451 greylisted', until: expect.any(String) }])
  const inMs = Date.parse(waiting[0]!.until!) - Date.now()
  expect([inMs > 300_000, inMs < 900_000]).toEqual([true, true])

  const messages = async () => (await app.manage('GET', '/organization/messages')).body.data
  await broadcast.act('pause')
  const held = { cause: 'broadcast_paused', detail: null, next_attempt_at: null, attempts: 0 }
  expect((await messages()).map(({ waiting }: { waiting: object }) => waiting)).toEqual([held, held, held])
  await broadcast.act('resume')
  expect((await messages())[0].waiting).toMatchObject({ cause: 'deferred', next_attempt_at: expect.any(String) })

  await app.db.statement`insert into sending_pause (reason) values ('operator')`
  expect((await broadcast.get()).waiting).toEqual([{ cause: 'paused', recipients: null, detail: null, until: null }])
})
