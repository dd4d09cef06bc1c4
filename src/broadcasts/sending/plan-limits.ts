import {
  findLimitUse,
  type Limit,
  limitsOf,
  type MailServers,
  OpenLimit,
  type OpenServer,
  type Senders,
  unused,
} from '../../delivery/delivery.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { newId, type OrganizationId } from '../../platform/values/ids.ts'
import type { SharedLimit } from './forecast.ts'

export type LimitParts = { senders: Senders; servers: MailServers; read: BoundedRead }

export type AppliedLimit = SharedLimit & { kind: 'mail_server' | 'warm_up' }

export type AppliedLimits = {
  /** Of the mail servers that carry the emails, and of the warm-up of their domain. */
  limits: AppliedLimit[]
  /** How these delay the emails together. */
  together: SharedLimit[]
  /** Whether receiving sites have limits as well. They depend on the addresses, so they cannot be planned. */
  hasSiteLimits: boolean
}

type Email = { organizationId: OrganizationId; kind: FlowKind; from: string }

/** Finds the limits that will delay emails as a whole, by the rules of `attemptMessage`. */
export async function findLimits(
  { senders, servers, read }: LimitParts,
  email: Email,
  now: number,
): Promise<AppliedLimits> {
  const { organizationId, kind, from } = email
  // Before the read, because they use other connections.
  const { warmUp } = await senders.identityOf(organizationId, from)
  await servers.load(organizationId)
  const anyEmail = { organizationId, id: newId('msg'), flowKind: kind, mailServerId: null }
  const all = servers.serversFor(anyEmail, from) ?? []
  return read(organizationId, (db) =>
    kind === 'transactional' ? limitsOfAll(db, all, now) : limitsOfFirst(db, all, warmUp, now),
  )
}

/** Marketing email waits for the server that is its first choice. */
async function limitsOfFirst(db: Reader, all: readonly OpenServer[], warmUp: Limit | undefined, now: number) {
  const servers = firstChoices(all)
  const weights = sum(servers, ({ weight }) => weight)
  const limits = await limitsOfServers(db, servers, now, ({ weight }) => weight / weights)
  if (warmUp) limits.push({ kind: 'warm_up', limit: warmUp, use: await useOf(db, warmUp, now), share: 1 })
  return { limits, together: limits, hasSiteLimits: servers.some(({ shapeByReceiver }) => shapeByReceiver) }
}

/** Transactional email takes the next server at a limit, and a warm-up never delays it. */
async function limitsOfAll(db: Reader, servers: readonly OpenServer[], now: number): Promise<AppliedLimits> {
  const hasSiteLimits = servers.length > 0 && servers.every(({ shapeByReceiver }) => shapeByReceiver)
  if (servers.some((server) => limitsOf(server).length === 0)) return { limits: [], together: [], hasSiteLimits }
  const limits = await limitsOfServers(db, servers, now, () => 1)
  return { limits, together: limits.length === 0 ? [] : [sumOf(limits, now)], hasSiteLimits }
}

/** The limit of several servers that take over from each other. */
function sumOf(limits: readonly AppliedLimit[], now: number): SharedLimit {
  // Those without a daily limit are left when the others have reached theirs.
  const lasting = limits.filter(({ limit }) => limit.perDay === null)
  const pool = lasting.length > 0 ? lasting : limits
  const rated = pool.filter(({ limit }) => limit.perSecond !== null)
  const perDay = lasting.length > 0 ? null : sum(pool, ({ limit }) => limit.perDay!)
  // The emails that servers without a rate carry take no time.
  const ratedShare = perDay === null ? 1 : sum(rated, ({ limit }) => limit.perDay!) / perDay
  const perSecond = rated.length === 0 ? null : sum(rated, ({ limit }) => limit.perSecond!) / ratedShare
  const { organizationId } = limits[0]!.limit
  const key = limits.map(({ limit }) => limit.key).join()
  const use = { ...unused(now), used: sum(pool, ({ limit, use }) => new OpenLimit(limit, use, now).use.used) }
  return { limit: { organizationId, key, name: key, perSecond, perDay }, use, share: 1 }
}

const sum = <Item>(items: readonly Item[], numberOf: (item: Item) => number): number =>
  items.reduce((total, item) => total + numberOf(item), 0)

async function limitsOfServers(
  db: Reader,
  servers: readonly OpenServer[],
  now: number,
  shareOf: (server: OpenServer) => number,
): Promise<AppliedLimit[]> {
  const limits: AppliedLimit[] = []
  for (const server of servers)
    for (const limit of limitsOf(server))
      limits.push({ kind: 'mail_server', limit, use: await useOf(db, limit, now), share: shareOf(server) })
  return limits
}

const useOf = async (db: Reader, limit: Limit, now: number) => (await findLimitUse(db, limit)) ?? unused(now)

/** The servers that are tried first for some emails. The others carry emails only if these fail. */
const firstChoices = (servers: readonly OpenServer[]): OpenServer[] =>
  servers.filter(({ priority }) => priority === servers[0]!.priority)
