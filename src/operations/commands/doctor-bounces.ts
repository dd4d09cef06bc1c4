import { lookUpRecords } from '../../delivery/delivery.ts'
import type { Config } from '../../platform/config/config.ts'
import { hostOf } from '../../platform/values/domain.ts'
import { bad, type Finding, good, note } from './finding.ts'
import { reachable, readGreeting } from './read-greeting.ts'

const check = 'Bounces'

/** Checks that the bounce listener, if there is one, answers and that mail servers find it. */
export async function* checkBounces(config: Config): AsyncGenerator<Finding> {
  const { BOUNCE_SMTP_PORT: port, BOUNCE_SMTP_HOST: host, BOUNCE_DOMAIN: domain, BASE_URL: baseUrl } = config
  if (port === undefined || domain === undefined) return
  yield await listener({ host: reachable(host), port, domain })
  yield await mx(domain, hostOf(new URL(baseUrl)), config.DNS_SERVERS)
}

/** A note if nothing listens, because the service may not be running. */
async function listener({ host, port, domain }: { host: string; port: number; domain: string }): Promise<Finding> {
  const greeting = await readGreeting(host, port).catch((error: NodeJS.ErrnoException) => error)
  const place = `${host} port ${port}`
  if (greeting instanceof Error)
    return note(
      check,
      `nothing answers on ${place} (${greeting.code ?? greeting.message}): no bounces arrive until \`waxwing start\` or \`serve\` runs with these settings`,
    )
  return greeting.startsWith(`220 ${domain} `)
    ? good(check, `the listener answers on ${place}`)
    : bad(check, `another program answers on ${place}: stop it, or set BOUNCE_SMTP_PORT to another port`)
}

async function mx(domain: string, host: string, nameServers?: readonly string[]): Promise<Finding> {
  const record = { type: 'MX', name: domain, value: `10 ${host}`, purpose: 'bounces' } as const
  const [state] = await lookUpRecords([record], nameServers)
  const advice = `add the DNS record “${domain}. MX ${record.value}.”, or forward its mail to the listener`
  switch (state!.status) {
    case 'found':
      return good(check, `the MX record of ${domain} is ${host}`)
    case 'missing':
      return bad(check, `${domain} has no MX record, so bounces cannot arrive: ${advice}`)
    case 'different':
      return note(check, `the MX record of ${domain} is ${state!.found}, not ${host}: ${advice}`)
    case 'unchecked':
      return note(check, `the name servers did not answer for the MX record of ${domain}`)
  }
}
