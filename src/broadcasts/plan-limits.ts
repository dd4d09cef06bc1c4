import type { Reader } from '../db/db.ts'
import type { Senders } from '../domains/senders.ts'
import type { FlowKind } from '../flows/flows.ts'
import type { MailServers } from '../mail-servers/mail-servers.ts'
import type { OpenServer } from '../mail-servers/open-server.ts'
import { limitsOf } from '../mail-servers/send-through.ts'
import { unused } from '../sending-limits/open-limit.ts'
import { findLimitUse, type Limit } from '../sending-limits/sending-limits.ts'
import { newId, type OrganizationId } from '../values/ids.ts'
import type { SharedLimit } from './forecast.ts'

export type LimitParts = { senders: Senders; servers: MailServers }

export type AppliedLimit = SharedLimit & { kind: 'mail_server' | 'warm_up' }

export type AppliedLimits = {
  limits: AppliedLimit[]
  /** Whether receiving sites have limits as well. They depend on the addresses, so they cannot be planned. */
  hasSiteLimits: boolean
}

type Email = { organizationId: OrganizationId; kind: FlowKind; from: string }

/** Finds the limits that will delay emails as a whole: of the mail servers that carry them, and of the warm-up of their domain. */
export async function findLimits(
  { senders, servers }: LimitParts,
  db: Reader,
  { organizationId, kind, from }: Email,
  now: number,
): Promise<AppliedLimits> {
  const { warmUp } = await senders.identityOf(organizationId, from)
  await servers.load(organizationId)
  const anyEmail = { organizationId, id: newId('msg'), flowKind: kind, mailServerId: null }
  const first = firstChoices(servers.serversFor(anyEmail, from) ?? [])
  const weights = first.reduce((sum, { weight }) => sum + weight, 0)
  const found = [
    ...first.flatMap((server) =>
      limitsOf(server).map((limit) => ({ kind: 'mail_server' as const, limit, share: server.weight / weights })),
    ),
    ...(warmUp ? [{ kind: 'warm_up' as const, limit: warmUp, share: 1 }] : []),
  ]
  const limits: AppliedLimit[] = []
  for (const each of found) limits.push({ ...each, use: await useOf(db, each.limit, now) })
  return { limits, hasSiteLimits: first.some(({ shapeByReceiver }) => shapeByReceiver) }
}

const useOf = async (db: Reader, limit: Limit, now: number) => (await findLimitUse(db, limit)) ?? unused(now)

/** The servers that are tried first for some emails. The others carry emails only if these fail. */
const firstChoices = (servers: readonly OpenServer[]): OpenServer[] =>
  servers.filter(({ priority }) => priority === servers[0]!.priority)
