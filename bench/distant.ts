import { startPeer } from './support/peer.ts'
import { byRatio, type Result } from './support/result.ts'
import { interleave } from './support/rounds.ts'
import { startService } from './support/service.ts'
import { createFlow, createGroupOfAll, insertContacts } from './support/tenant-data.ts'
import { until } from './support/until.ts'

const perRound = 4_000
const connections = 10
const lookEveryMs = 20

/**
 * A broadcast through a mail server that answers after 20 ms, defers 5 % of the recipients, rejects 2 %, and closes each
 * connection after 100 emails. The reference is the rate at which its connections, without a pause, carry an email per answer.
 */
export async function distant(): Promise<Result> {
  const sink = await startPeer('smtp-sink', 1, { distant: true })
  const service = await startService('start', {
    SMTP_URL: `smtp://127.0.0.1:${sink.ports[0]!}`,
    SMTP_CONNECTIONS: String(connections),
    MAIL_FROM: 'Acme <shop@example.com>',
  })
  const tenant = await service.register('acme')
  const flow = await createFlow(tenant, { kind: 'marketing' })
  await insertContacts(service.db, tenant.id, perRound)
  const group = await createGroupOfAll(service.db, tenant)

  const sendThrough = async () => {
    const before = await sink.count()
    const audience = { group_ids: [group] }
    const { id } = await tenant.manage('POST', '/broadcasts', {
      name: 'News',
      flow_id: flow.text,
      audience,
      context: { order_id: 1042 },
    })
    const startedAt = performance.now()
    const cpuBefore = service.cpuMicros()
    const { recipients } = await tenant.manage('POST', `/broadcasts/${id}/check`)
    await tenant.manage('POST', `/broadcasts/${id}/start`, { expected_recipients: recipients })
    await until('the attempts', async () => (await sink.count()) >= before + recipients, lookEveryMs)
    const cpuAfter = service.cpuMicros()
    const seconds = (performance.now() - startedAt) / 1000
    await tenant.manage('POST', `/broadcasts/${id}/cancel`)
    return {
      operations: recipients,
      seconds,
      cpuMicros: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore,
    }
  }
  const allowed = async () => ({ operations: connections, seconds: 0.02 })
  const comparison = await interleave(sendThrough, allowed, 3)
  return byRatio(comparison, { unit: 'mails', atLeast: 0.8, aim: 0.9, service })
}
