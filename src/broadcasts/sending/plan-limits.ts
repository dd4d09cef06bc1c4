import {
  findLimitUse,
  type Limit,
  type LimitUse,
  limitsOf,
  type MailServers,
  type OpenServer,
  type Senders,
  unused,
} from '../../delivery/delivery.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import type { FlowKind } from '../../platform/values/flow-kind.ts'
import { newId, type OrganizationId } from '../../platform/values/ids.ts'

export type LimitParts = { senders: Senders; servers: MailServers; read: BoundedRead }

export type UsedLimit = { limit: Limit; use: LimitUse }

export type EmailLimits = {
  /** As limits of all emails, although each server carries only some of them. */
  limits: UsedLimit[]
  /** Whether receiving sites have limits as well. They depend on the addresses, so they cannot be planned. */
  hasSiteLimits: boolean
}

type Email = { organizationId: OrganizationId; kind: FlowKind; from: string }

/** Finds the limits of mail servers and of a warm-up that will delay emails as a whole, by the rules of `attemptMessage`. */
export async function findLimits(
  { senders, servers, read }: LimitParts,
  email: Email,
  now: number,
): Promise<EmailLimits> {
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

/** Marketing email waits for the server that is its first choice. The others carry it only if these fail. */
async function limitsOfFirst(db: Reader, all: readonly OpenServer[], warmUp: Limit | undefined, now: number) {
  const servers = all.filter(({ priority }) => priority === all[0]!.priority)
  const weights = sum(servers, ({ weight }) => weight)
  const limits: UsedLimit[] = []
  for (const server of servers) {
    const used = await useOf(db, limitsOf(server), now)
    limits.push(...used.map((each) => limitOfAllEmails(each, server.weight / weights)))
  }
  limits.push(...(await useOf(db, warmUp ? [warmUp] : [], now)))
  return { limits, hasSiteLimits: servers.some(({ shapeByReceiver }) => shapeByReceiver) }
}

/** The limit that all emails have if this share of them has a limit. */
function limitOfAllEmails({ limit, use }: UsedLimit, share: number): UsedLimit {
  const { perSecond, perDay } = limit
  const forAllEmails = {
    perSecond: perSecond === null ? null : perSecond / share,
    perDay: perDay === null ? null : Math.floor(perDay / share),
  }
  return { limit: { ...limit, ...forAllEmails }, use: { ...use, used: Math.floor(use.used / share) } }
}

/** Transactional email takes the next server at a limit, and a warm-up never delays it. */
async function limitsOfAll(db: Reader, servers: readonly OpenServer[], now: number): Promise<EmailLimits> {
  const hasSiteLimits = servers.length > 0 && servers.every(({ shapeByReceiver }) => shapeByReceiver)
  const used = await useOf(db, servers.flatMap(limitsOf), now)
  if (used.length < servers.length || used.length === 0) return { limits: [], hasSiteLimits }
  // Those without a daily limit are left when the others have reached theirs.
  const lasting = used.filter(({ limit }) => limit.perDay === null)
  const pool = lasting.length > 0 ? lasting : used
  const sumOf = (values: (number | null)[]) => (values.includes(null) ? null : sum(values, (value) => value!))
  const limit: Limit = {
    ...pool[0]!.limit,
    name: pool.map(({ limit: { name } }) => name).join(' and '),
    perSecond: sumOf(pool.map((each) => each.limit.perSecond)),
    perDay: sumOf(pool.map((each) => each.limit.perDay)),
  }
  return { limits: [{ limit, use: { ...unused(now), used: sum(pool, ({ use }) => use.used) } }], hasSiteLimits }
}

const sum = <Item>(items: readonly Item[], numberOf: (item: Item) => number): number =>
  items.reduce((total, item) => total + numberOf(item), 0)

async function useOf(db: Reader, limits: readonly Limit[], now: number): Promise<UsedLimit[]> {
  const used: UsedLimit[] = []
  for (const limit of limits) used.push({ limit, use: (await findLimitUse(db, limit)) ?? unused(now) })
  return used
}
