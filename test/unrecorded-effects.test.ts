import { pino } from 'pino'
import { expect, test } from 'vitest'
import { parseId } from '../src/platform/values/ids.ts'
import { createService } from '../src/service.ts'
import { fill } from './support/broadcasts.ts'
import { collectStatements } from './support/collect-statements.ts'
import { happen } from './support/events.ts'
import { createFlow, send } from './support/flows.ts'
import { getMessage } from './support/messages.ts'
import { registerOther } from './support/people.ts'
import { startRelay } from './support/relay.ts'
import { create, read } from './support/resources.ts'
import { startSharedApp, startTestApp, type TestApp } from './support/test-app.ts'
import { longTestMsMax } from './support/time-limits.ts'
import { until } from './support/until.ts'
import { startReceiver } from './support/webhook-receiver.ts'
import { withResolvers } from './support/with-resolvers.ts'

/** After this many refused writes, whatever tries them is repeated, and the effect outside would be as well. */
const refusalsMin = 8

/** What has left for an address or a path, and whether the rest has to wait for `release`. */
class Outside {
  readonly counts = new Map<string, number>()
  readonly #held = new Map<string, Promise<void>>()

  /** `key`: what the effects of one test have in common. */
  hold(key: string): { arrived: () => boolean; release: () => void } {
    const { promise, resolve } = withResolvers()
    this.#held.set(key, promise)
    return { arrived: () => this.of(key).length > 0, release: () => resolve() }
  }

  async take(key: string, name: string): Promise<undefined> {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
    await this.#held.get(key)
  }

  of(key: string): number[] {
    return [...this.counts].filter(([name]) => name.includes(key)).map(([, count]) => count)
  }
}

const outside = new Outside()
const relay = await startRelay({ parse: false })
relay.onData = ({ recipient }) => outside.take(recipient.split('@')[1]!, recipient)
const receiver = await startReceiver(
  async (response, { path }) => {
    await outside.take(path.split('?')[0]!, path)
    response.end()
  },
  { plain: true },
)

/** Lets writes to tables of single organizations fail. */
async function prepareRefusals({ db }: Pick<TestApp, 'db'>): Promise<void> {
  await db.pool.query(`
    create table refusals (organization_id uuid, name text, counter text);
    create function refuse() returns trigger language plpgsql as $$
    declare
      refusal record;
      changed jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
    begin
      for refusal in select counter from refusals
        where organization_id = (changed ->> 'organization_id')::uuid and name = tg_argv[0]
      loop
        perform nextval(refusal.counter);
        raise exception 'refused by a test';
      end loop;
      if tg_op = 'DELETE' then return old; end if;
      return new;
    end $$;
    do $$
    declare target text;
    begin
      for target in
        select c.oid::regclass from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and c.relname <> 'refusals'
      loop
        execute format('create trigger refuse before insert or update or delete on %s for each row execute function refuse(%L)', target, target);
      end loop;
    end $$`)
}

let refusals = 0

/** From now on, writes of the organization to these tables fail. */
async function refuse({ db, organizationId }: Pick<TestApp, 'db' | 'organizationId'>, tables: readonly string[]) {
  const counter = `refused_${++refusals}`
  const id = parseId('org', organizationId)
  await db.pool.query(`create sequence ${counter} minvalue 0 start 0`)
  await db.pool.query('insert into refusals select $1, unnest($2::text[]), $3', [id, tables, counter])
  return {
    count: async () => {
      const { rows } = await db.pool.query(`select last_value as count from ${counter}`)
      return rows[0].count as number
    },
    end: () => db.pool.query('delete from refusals where counter = $1', [counter]),
  }
}

/** Instead of waiting for postponed jobs. Without triggers. */
async function makeJobsDue({ db, organizationId }: Pick<TestApp, 'db' | 'organizationId'>): Promise<void> {
  const id = parseId('org', organizationId)
  const client = await db.pool.connect()
  try {
    await client.query('begin; set local session_replication_role = replica')
    await client.query('update jobs set due_at = now() where organization_id = $1 and due_at > now()', [id])
    await client.query('update lanes set next_due_at = now() where organization_id = $1', [id])
    await client.query('commit')
  } finally {
    client.release()
  }
}

/** Awaits a condition while postponed jobs are made due. */
const untilHurried = (what: string, app: TestApp, condition: () => Promise<boolean>) =>
  until(what, async () => {
    await makeJobsDue(app)
    return condition()
  })

/** One effect outside: how it is caused, and how it ends once it can be recorded. */
type Effect = {
  /** Returns the key of what leaves, and a function that throws unless it was recorded in the end. */
  cause: (app: TestApp) => Promise<{ key: string; hold: ReturnType<Outside['hold']>; recorded: () => Promise<void> }>
  others: number
}

const keyOf = ({ organizationId }: TestApp) => `${organizationId.replaceAll('_', '-')}.example.com`

const effects: Record<string, Effect> = {
  'an email': {
    others: 0,
    cause: async (app) => {
      const key = keyOf(app)
      const hold = outside.hold(key)
      await create(app, '/webhooks', { name: 'Orders', url: receiver.url(), all_events: true })
      const sent = await send(app, await createFlow(app), { contact_email: `a@${key}` })
      const id = sent.body.data.message_id
      const recorded = async () => {
        const { status, reason } = await untilFinal(app, id)
        if (status !== 'sent')
          expect([status, reason]).toEqual(['failed', 'its outcome could not be recorded, so it may have been sent'])
      }
      return { key, hold, recorded }
    },
  },
  'a broadcast': {
    others: 11,
    cause: async (app) => {
      const key = keyOf(app)
      const hold = outside.hold(key)
      const { group, create: createBroadcast } = await fill(app)
      await create(app, '/webhooks', { name: 'Orders', url: receiver.url(), all_events: true })
      const addresses = Array.from({ length: 12 }, (_, index) => `reader${index}@${key}`)
      const broadcast = await createBroadcast([await group('Readers', addresses)])
      await broadcast.start()
      const recorded = async () => {
        await untilHurried('the end', app, async () => {
          const { status, reason, detail } = await broadcast.get()
          if (status === 'paused') {
            expect([reason, detail]).toEqual(['failed', expect.stringContaining('internal error')])
            await broadcast.act('resume')
          }
          return status === 'sent'
        })
        expect((await broadcast.get()).counts).toMatchObject({ sent: 12, pending: 0 })
      }
      return { key, hold, recorded }
    },
  },
  'a webhook': {
    others: 0,
    cause: async (app) => {
      const path = `/${app.organizationId}`
      const hold = outside.hold(path)
      const url = `http://127.0.0.1:${receiver.port}${path}`
      const { id } = await create(app, '/webhooks', { name: 'Orders', url, all_events: true })
      await happen(app.db, app.organizationId, 'emailClick')
      const recorded = async () => {
        const log = async () => (await app.manage('GET', `/organization/webhooks/${id}/deliveries`)).body.data[0]
        await untilHurried('the delivery to end', app, async () => (await log()).status !== 'pending')
        const { status, reason } = await log()
        if (status !== 'delivered') expect([status, reason]).toEqual(['failed', expect.stringContaining('recorded')])
      }
      return { key: path, hold, recorded }
    },
  },
  'an account email': {
    others: 0,
    cause: async (app) => {
      const key = keyOf(app)
      const hold = outside.hold(key)
      await create(app, '/invitations', { email: `eve@${key}`, role: 'member' })
      const left = 'select from jobs where organization_id = $1'
      const recorded = async () => {
        const isGone = async () =>
          (await app.db.pool.query(left, [parseId('org', app.organizationId)])).rows.length === 0
        await untilHurried('the job to end', app, isGone)
      }
      return { key, hold, recorded }
    },
  },
}

const untilFinal = async (app: TestApp, id: string) => {
  await untilHurried(
    'the email to end',
    app,
    async () => !['queued', 'scheduled'].includes((await getMessage(app, id)).status),
  )
  return getMessage(app, id)
}

const newOrganization = await startSharedApp({ SMTP_URL: relay.url, SMTP_CONNECTIONS: '100' })
const first = await newOrganization()
await prepareRefusals(first)

/** The tables that are written when an effect is recorded. */
async function findTables({ cause }: Effect): Promise<string[]> {
  const app = await newOrganization()
  const { hold, recorded } = await cause(app)
  await until('the effect', hold.arrived)
  using statements = collectStatements()
  hold.release()
  await recorded()
  const written = /\b(?:insert into|update|delete from) (\w+)/g
  const tables = statements.texts.flatMap((text) => [...text.matchAll(written)].map(([, table]) => table!))
  // Without a lane, no job of any organization can be claimed.
  return [...new Set(tables)].filter((table) => !['set', 'lanes'].includes(table)).sort()
}

for (const [name, effect] of Object.entries(effects))
  test(`${name} is not repeated while a table refuses its record, and recorded once it does not`, {
    timeout: longTestMsMax.kills(5),
  }, async () => {
    const tables = await findTables(effect)
    expect(tables).toContain('jobs')
    const runs = tables.map(async (table) => {
      const app = await newOrganization()
      const { key, hold, recorded } = await effect.cause(app)
      await until(`the effect (${table})`, hold.arrived)
      const refusal = await refuse(app, [table])
      hold.release()
      await untilHurried(`refused writes to ${table}`, app, async () => {
        const isRefused = (await refusal.count()) >= refusalsMin
        return isRefused || (await isSettled(app))
      })
      const copies = outside.of(key)
      await refusal.end()
      await recorded()
      return [table, Math.max(...copies), Math.max(...outside.of(key)), outside.of(key).length]
    })
    expect(await Promise.all(runs)).toEqual(tables.map((table) => [table, 1, 1, effect.others + 1]))
  })

test('a broadcast whose results cannot be recorded is paused although its notice cannot be written either', async () => {
  const app = await newOrganization()
  const key = keyOf(app)
  const hold = outside.hold(key)
  const { group, create: createBroadcast } = await fill(app)
  const broadcast = await createBroadcast([await group('Readers', [`a@${key}`, `b@${key}`])])
  await broadcast.start()
  await until('the effect', hold.arrived)
  const refusal = await refuse(app, ['broadcast_recipients', 'notices'])
  hold.release()
  const paused = await broadcast.ended('paused')
  expect([paused.reason, paused.detail]).toEqual(['failed', expect.stringContaining('could not be recorded')])
  await refusal.end()
  await broadcast.act('resume')
  expect((await broadcast.ended()).counts).toMatchObject({ sent: 2 })
  expect(outside.of(key)).toEqual([1, 1])
})

test('a broadcast that can neither be recorded nor paused is not sent again by another process', async () => {
  await using app = await startTestApp({ SMTP_URL: relay.url }, ['serve'])
  await prepareRefusals(app)
  const key = keyOf(app)
  const hold = outside.hold(key)
  const { group, create: createBroadcast } = await fill(app)
  const broadcast = await createBroadcast([await group('Readers', [`a@${key}`, `b@${key}`])])
  await broadcast.start()
  const first = await startWorker(app)
  await until('the effect', hold.arrived)
  const records = await refuse(app, ['broadcast_recipients'])
  const pauses = await refuse(app, ['broadcasts'])
  hold.release()
  const givenUp = () => app.db`select from jobs where kind = 'broadcast.run' and faults > 0`
  await until('the failure', async () => (await givenUp()).length > 0)
  await first.stop()
  const copies = outside.of(key)
  expect(Math.max(...copies)).toBe(1)
  const second = await startWorker(app)
  const before = await pauses.count()
  await untilHurried('tries to pause it', app, async () => (await pauses.count()) > before + 2)
  await pauses.end()
  await untilHurried('the pause', app, async () => (await broadcast.get()).status === 'paused')
  expect(outside.of(key)).toEqual(copies)
  await records.end()
  await second.stop()
})

test('an email that has failed for hours is given up with the reason, and can be cancelled until then', async () => {
  const app = await newOrganization()
  const key = keyOf(app)
  const hold = outside.hold(key)
  const flowId = await createFlow(app)
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  const [sent, cancelled] = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const { body } = await send(app, flowId, { contact_email: `${name}@${key}`, send_at: sendAt })
      return body.data.message_id as string
    }),
  )
  await app.db.pool.query('update jobs set attempt = 5, faults = 5 where organization_id = $1', [
    parseId('org', app.organizationId),
  ])
  expect((await app.manage('DELETE', `/organization/messages/${cancelled}`)).status).toBe(200)
  hold.release()
  const refusal = await refuse(app, ['events'])
  expect(await untilFinal(app, sent!)).toMatchObject({
    status: 'failed',
    reason: 'its outcome could not be recorded, so it may have been sent',
  })
  await refusal.end()
  expect(outside.of(key)).toEqual([1])
  expect((await getMessage(app, cancelled!)).status).toBe('cancelled')
})

test('owners see one notice for each kind of effects that were given up, and the operator that about system emails', async () => {
  await using app = await startTestApp({ SMTP_URL: relay.url }, ['serve'])
  await prepareRefusals(app)
  const other = await registerOther(app)
  const key = keyOf(app)
  const url = `http://127.0.0.1:${receiver.port}/${app.organizationId}`
  const { id: webhookId } = await create(app, '/webhooks', { name: 'Orders', url, all_events: true })
  await happen(app.db, app.organizationId, 'emailClick', 3)
  const flowId = await createFlow(app)
  for (const name of ['a', 'b', 'c']) await send(app, flowId, { contact_email: `${name}@${key}` })
  await create(other, '/invitations', { email: `d@${key}`, role: 'member' })
  await app.db.pool.query('update jobs set attempt = 5, faults = 5')
  // Without its jobs, the invitation cannot even be given up.
  const refusals = [await refuse(app, ['events', 'delivery_attempts']), await refuse({ ...app, ...other }, ['jobs'])]

  const worker = await startWorker(app)
  const failedOf = async (path: string) =>
    (await read(app, path)).filter(({ status }: { status: string }) => status === 'failed')
  await until('the emails to be given up', async () => (await failedOf('/messages')).length === 3)
  const deliveries = `/webhooks/${webhookId}/deliveries`
  await until('the deliveries to be given up', async () => (await failedOf(deliveries)).length === 3)
  const notices = () => read(app, '/notices?state=open')
  await until('the notices', async () => (await notices()).length >= 3)
  for (const refusal of refusals) await refusal.end()
  await worker.stop()

  const kinds = (await notices()).map(({ kind }: { kind: string }) => kind)
  expect(kinds.sort()).toEqual(['deliveries_given_up', 'emails_given_up', 'system_emails_given_up'])
  expect(await read(other, '/notices')).toEqual([])
})

async function startWorker({ config, secrets, db }: TestApp) {
  const worker = await createService({ config, secrets, db, log: pino({ level: 'silent' }), roles: ['work'] })
  await worker.start()
  return worker
}

/** Nothing is left to be done, or it waits for somebody. */
const isSettled = async ({ db, organizationId }: TestApp): Promise<boolean> => {
  const busy = `select from jobs join lanes using (organization_id, kind, lane)
    where organization_id = $1 and not lanes.held and kind <> 'broadcast.step'`
  return (await db.pool.query(busy, [parseId('org', organizationId)])).rows.length === 0
}
