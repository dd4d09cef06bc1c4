import type { Db } from '../src/platform/db/db.ts'
import { BareSmtp } from './support/bare-smtp.ts'
import { enqueueNewJobs } from './support/enqueue.ts'
import { startPeer } from './support/peer.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave } from './support/rounds.ts'
import { startService } from './support/service.ts'
import { createFlow, insertContacts } from './support/tenant-data.ts'
import { until } from './support/until.ts'

const perRound = 20_000
const connections = 10
const lookEveryMs = 50

/** Sends accepted messages through the worker to a relay until each is recorded as sent. */
export async function send(): Promise<Result> {
  const sink = await startPeer('smtp-sink')
  const port = sink.ports[0]!
  const service = await startService('start', {
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    SMTP_CONNECTIONS: String(connections),
    MAIL_FROM: 'Acme <shop@example.com>',
  })
  const tenants = await service.registerAll()
  const perTenant = Math.ceil(perRound / tenants.length)
  const count = perTenant * tenants.length
  for (const tenant of tenants) {
    await createFlow(tenant)
    await insertContacts(service.db, tenant.id, perTenant)
  }

  const sendThrough = async () => {
    const before = await sink.count()
    await insertMessages(service.db)
    const startedAt = performance.now()
    const cpuBefore = service.cpuMicros()
    await service.db.statement`select pg_notify('waxwing_jobs', '{"from":"bench","kind":"message.send"}')`
    await until('the mails', async () => (await sink.count()) >= before + count, lookEveryMs)
    await until('the records', () => isRecorded(service.db), lookEveryMs)
    const cpuAfter = service.cpuMicros()
    return {
      operations: count,
      seconds: (performance.now() - startedAt) / 1000,
      cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
    }
  }
  await sendThrough()
  // The email that the service composes, so that both sides transfer the same bytes.
  const mail = await sink.last()
  const bare = await BareSmtp.open(port, connections, mail)
  const sendBare = async () => {
    const startedAt = performance.now()
    await bare.send(count)
    return { operations: count, seconds: (performance.now() - startedAt) / 1000 }
  }
  const comparison = await interleave(sendThrough, sendBare)
  bare.close()
  return byRatio(comparison, {
    unit: 'mails',
    atLeast: 0.3,
    aim: 0.6,
    service,
    notes: [`a mail has ${mail.length} bytes`],
  })
}

/** Writes one message per contact with its job, as accepting does. Each organization has one flow. */
async function insertMessages(db: Db): Promise<void> {
  await db.statement`
    with written as (
      insert into messages (organization_id, id, flow_id, flow_version_id, contact_id, email, subject, context,
        recipient, status)
      select contacts.organization_id, uuidv7(), flows.id, flows.version_id, contacts.id, contacts.email,
        'Order 1042 is on its way', '{"order_id": 1042}',
        jsonb_strip_nulls(jsonb_build_object('first_name', contacts.first_name, 'last_name', contacts.last_name)), 'queued'
      from contacts
      join flows on flows.organization_id = contacts.organization_id
      returning organization_id, id
    ),
    new_jobs as (
      select organization_id, 'message.send'::text as kind, (row_number() over () % 4)::text as lane, now() as due_at, id
      from written
    ), ${enqueueNewJobs}
    select`
}

async function isRecorded(db: Db): Promise<boolean> {
  const [row] = await db<{ waiting: boolean }>`
    select exists (
      select from organizations
      join messages on messages.organization_id = organizations.id
      where messages.status = 'queued'
    ) as waiting`
  return !row!.waiting
}
