import { request } from 'node:http'
import type { Seeded } from './seeded.ts'
import type { Victim } from './victim.ts'

export type HostileInput<Attacked extends Victim = Victim> = {
  name: string
  /**
   * Returns the answers that the input got: HTTP statuses, or 0 where the connection was closed without an answer.
   * `scale` 1 is the size of the input that once stopped the service. Throws if the service did not limit what it had
   * to limit.
   */
  fire(victim: Attacked, random: Seeded, scale: number): Promise<number[]>
}

const requestTimeoutMs = 120_000

type Sent = { method?: string; path: string; headers?: Record<string, string>; body?: string | Buffer }

/** Returns the status, or 0 if there was no response: a server may close the connection if a body is too large. */
export function status({ url }: Victim, { method = 'POST', path, headers = {}, body }: Sent): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}${path}`,
      { method, headers: { 'content-type': 'application/json', ...headers } },
      (response) => {
        response.resume().once('close', () => resolve(response.statusCode ?? 0))
      },
    )
    sent.setTimeout(requestTimeoutMs, () => sent.destroy())
    sent.once('error', () => resolve(0)).end(body)
  })
}

export const asMember = ({ attacker }: Victim) => ({ authorization: `Bearer ${attacker.session}` })
export const asProgram = ({ attacker }: Victim) => ({ 'x-api-token': attacker.apiKey })

export const manage = (victim: Victim, path: string, body: unknown) =>
  status(victim, { path: `/api/v1/organization${path}`, headers: asMember(victim), body: JSON.stringify(body) })

export async function newFlow(victim: Victim, flow: object): Promise<string | undefined> {
  const created = await victim.attacker.manage('POST', '/organization/flows', {
    name: 'Hostile',
    kind: 'transactional',
    subject: 'x',
    html: '<p>x</p>',
    ...flow,
  })
  return created.body?.data?.id
}

export const send = (victim: Victim, flowId: string, more: object = {}) =>
  status(victim, {
    path: '/public/api/v1/flow/send-email-through-flow',
    headers: asProgram(victim),
    body: JSON.stringify({ flow_id: flowId, contact_email: 'ada@example.com', context: {}, ...more }),
  })

export const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i)).join('')
