import type { Db } from '../src/platform/db/db.ts'
import type { OrganizationId } from '../src/platform/values/ids.ts'
import { BareSmtp } from './support/bare-smtp.ts'
import { startPeer } from './support/peer.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave } from './support/rounds.ts'
import { startService } from './support/service.ts'
import { createFlow, createGroupOfAll, insertContacts } from './support/tenant-data.ts'
import { until } from './support/until.ts'

const perRound = 20_000
const connections = 10
const lookEveryMs = 50

/** Sends a broadcast to a group, from the request that starts it until its last email is recorded. */
export async function broadcast(): Promise<Result> {
  const sink = await startPeer('smtp-sink')
  const port = sink.ports[0]!
  const service = await startService('start', {
    SMTP_URL: `smtp://127.0.0.1:${port}`,
    SMTP_CONNECTIONS: String(connections),
    MAIL_FROM: 'Acme <shop@example.com>',
  })
  const tenant = await service.register('acme')
  // Only marketing flows are sent to many.
  const flow = await createFlow(tenant, { kind: 'marketing' })
  await insertContacts(service.db, tenant.id, perRound)
  const group = await createGroupOfAll(service.db, tenant)

  const sendThrough = async () => {
    const { id } = await tenant.manage('POST', '/broadcasts', {
      name: 'News',
      flow_id: flow.text,
      audience: { group_ids: [group] },
      context: { order_id: 1042 },
    })
    const startedAt = performance.now()
    const cpuBefore = service.cpuMicros()
    await tenant.manage('POST', `/broadcasts/${id}/start`, { expected_recipients: perRound })
    await until('the end', () => isSent(service.db, tenant.id), lookEveryMs)
    const cpuAfter = service.cpuMicros()
    return {
      operations: perRound,
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
    await bare.send(perRound)
    return { operations: perRound, seconds: (performance.now() - startedAt) / 1000 }
  }
  const comparison = await interleave(sendThrough, sendBare)
  bare.close()
  return byRatio(comparison, {
    unit: 'mails',
    atLeast: 0.25,
    aim: 0.4,
    service,
    notes: [`a mail has ${mail.length} bytes`],
  })
}

async function isSent(db: Db, organizationId: OrganizationId): Promise<boolean> {
  const rows = await db`select from broadcasts where organization_id = ${organizationId} and status <> 'sent'`
  return rows.length === 0
}
