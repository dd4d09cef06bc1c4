import { createTokens } from '../src/platform/secrets/tokens.ts'
import { newId } from '../src/platform/values/ids.ts'
import { compareWithHello } from './support/compare-http.ts'
import { httpRequest, inTurn } from './support/http-load.ts'
import { options } from './support/options.ts'
import { byRatio, type Result } from './support/result.ts'
import { appSecret, type Service, startService } from './support/service.ts'
import { createFlow, type OrganizationFlow } from './support/tenant-data.ts'

const messages = 30_000
const reader = { 'user-agent': 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15' }

/**
 * GET requests for pixels and links, each answered after the commit. A webhook is subscribed, so each hit also writes a
 * delivery and its job; delivering them is measured by another bench.
 */
export async function track(): Promise<Result> {
  const service = await startService('serve')
  const flows: OrganizationFlow[] = []
  for (const tenant of await service.registerAll()) {
    flows.push(await createFlow(tenant))
    await tenant.manage('POST', '/webhooks', {
      name: 'all',
      url: 'http://127.0.0.1:9/hook',
      event_types: ['emailOpen', 'emailClick'],
    })
  }
  const next = inTurn(hitRequests(flows))
  const comparison = await compareWithHello(service, { ours: next, reference: next })
  // Counters of many organizations are many rows.
  const atLeast = options.organizations === 1 ? 0.18 : 0.12
  return byRatio(comparison, { unit: 'hits', atLeast, aim: 0.3, service, notes: [await spooled(service)] })
}

/** Returns a pixel and a link for each message, of one flow after the other. */
export const hitRequests = (flows: readonly OrganizationFlow[]): Buffer[] =>
  Array.from({ length: messages }, (_, index) => signed(flows[index % flows.length]!)).flat()

const tokens = createTokens({ current: appSecret })

function signed({ organizationId, id: flowId }: OrganizationFlow): Buffer[] {
  const ids = { organizationId, flowId, messageId: newId('msg'), contactId: newId('con') }
  const url = 'https://shop.example/orders/1042?utm_source=mail'
  return [
    httpRequest('GET', `/t/o/${tokens.sign('email', ids)}`, reader),
    httpRequest('GET', `/t/c/${tokens.sign('email', ids)}/${tokens.signDestination(ids, { url })}`, reader),
  ]
}

/** Hits whose commit takes too long are answered from the spool, which is durable as well but a different path. */
async function spooled(service: Service): Promise<string> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const count = /^waxwing_hits_spooled_total (\d+)/m.exec(text)?.[1] ?? '0'
  return `${count} hits went by way of the spool`
}
