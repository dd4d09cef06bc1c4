import { compareWithHello } from './support/compare-http.ts'
import { httpRequest, inTurn } from './support/http-load.ts'
import { byRatio, type Result } from './support/result.ts'
import { startService } from './support/service.ts'
import { addressOf, createFlow, insertContacts } from './support/tenant-data.ts'

const people = 20_000

/** POST send-email-through-flow, each answered after the commit. Sending is measured by another bench. */
export async function accept(): Promise<Result> {
  const service = await startService('serve')
  const tenant = await service.register('acme')
  const flow = await createFlow(tenant)
  await insertContacts(service.db, tenant.id, people)
  const bodies = Array.from({ length: people }, (_, index) =>
    JSON.stringify({
      flow_id: flow.text,
      contact_email: addressOf(index + 1),
      context: { order_id: 100_000 + index },
    }),
  )
  const path = '/public/api/v1/flow/send-email-through-flow'
  const requests = bodies.map((body) => httpRequest('POST', path, { 'x-api-token': tenant.apiKey }, body))
  const comparison = await compareWithHello(service, { ours: inTurn(requests), reference: inTurn(requests) })
  return byRatio(comparison, { unit: 'messages', atLeast: 0.2, aim: 0.35, service })
}
