import type { FastifyRequest } from 'fastify'
import type { NewEvent } from '../../events/events.ts'
import type { MailIds } from '../../platform/secrets/tokens.ts'
import { newId } from '../../platform/values/ids.ts'
import { type MachineReason, machineReason } from './machine.ts'

const userAgentLengthMax = 512
const agentsKnownMax = 2_000

type Kind = 'open' | 'click'

/**
 * Creates events from requests. An event contains the user agent and, if the organization stores IP addresses, the IP
 * address.
 */
export class HitEvents {
  // A few user agents make up most requests, and matching all patterns takes longer than everything else here.
  readonly #reasons = { open: new Map<string, MachineReason | null>(), click: new Map<string, MachineReason | null>() }

  create(kind: Kind, ids: MailIds & { url?: string }, request: FastifyRequest, keepsAddress: boolean): NewEvent {
    const userAgent = userAgentOf(request)
    const reason = this.#reasonOf(kind, userAgent)
    const data: NewEvent['data'] = { user_agent: userAgent }
    if (keepsAddress) data.ip = request.ip
    if (ids.url !== undefined) data.url = ids.url
    const nowMs = Date.now()
    return {
      id: newId('evt', nowMs),
      organizationId: ids.organizationId,
      eventName: kind === 'open' ? 'emailOpen' : 'emailClick',
      occurredAt: new Date(nowMs),
      messageId: ids.messageId,
      flowId: ids.flowId,
      contactId: ids.contactId,
      machine: reason !== null,
      machineReason: reason,
      data,
    }
  }

  #reasonOf(kind: Kind, userAgent: string | null): MachineReason | null {
    const known = this.#reasons[kind]
    const agent = userAgent ?? ''
    let reason = known.get(agent)
    if (reason === undefined) {
      reason = machineReason(kind, agent)
      if (known.size >= agentsKnownMax) known.clear()
      known.set(agent, reason)
    }
    return reason
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters meant
const controls = /[\u0000-\u001f\u007f-\u009f]+/g

function userAgentOf(request: FastifyRequest): string | null {
  const text = request.headers['user-agent']
  return text ? text.slice(0, userAgentLengthMax).replace(controls, ' ').trim() || null : null
}
