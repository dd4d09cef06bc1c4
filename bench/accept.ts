import { compareWithHello } from './support/compare-http.ts'
import { httpRequest, inTurn } from './support/http-load.ts'
import { byRatio, type Result } from './support/result.ts'
import { startService } from './support/service.ts'
import { addressOf, createFlow, insertContacts, type OrganizationFlow } from './support/tenant-data.ts'

const people = 20_000
const path = '/public/api/v1/flow/send-email-through-flow'

/** POST send-email-through-flow, each answered after the commit. Sending is measured by another bench. */
export async function accept(): Promise<Result> {
  const service = await startService('serve')
  const tenants = await service.registerAll()
  const perTenant = Math.ceil(people / tenants.length)
  const flows: OrganizationFlow[] = []
  for (const tenant of tenants) {
    flows.push(await createFlow(tenant))
    await insertContacts(service.db, tenant.id, perTenant)
  }
  // One organization after the other, so that every batch has messages of many.
  const requests = Array.from({ length: people }, (_, index) => {
    const number = index % tenants.length
    const body = {
      flow_id: flows[number]!.text,
      contact_email: addressOf(Math.floor(index / tenants.length) + 1),
      context: { order_id: 100_000 + index },
    }
    return httpRequest('POST', path, { 'x-api-token': tenants[number]!.apiKey }, JSON.stringify(body))
  })
  const comparison = await compareWithHello(service, { ours: inTurn(requests), reference: inTurn(requests) })
  return byRatio(comparison, { unit: 'messages', atLeast: 0.2, aim: 0.35, service })
}
