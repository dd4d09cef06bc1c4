import {
  findServerStates,
  type Hold,
  holdOf,
  type MailServers,
  OpenLimit,
  type OpenServer,
  type Senders,
  type ServerState,
} from '../../delivery/delivery.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Reader } from '../../platform/db/db.ts'
import { newId } from '../../platform/values/ids.ts'
import { limitReason, senderOf, serverDownReason } from '../../sending/sending.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { findFlowOf, selectSenders } from '../results/flow-of-broadcast.sql.ts'
import { findLimits } from './plan-limits.ts'
import { kindOf } from './service-announcements.ts'
import { selectWaitingEmails, selectWaitingParts, type WaitingEmail, type WaitingPart } from './waiting.sql.ts'

export const waitCauses = [
  'paused',
  'mail_server_unreachable',
  'daily_limit',
  'limit',
  'messages_per_hour',
  'sending_hours',
  'local_time',
  'deferred',
] as const

/** Why a broadcast, or some of its emails, are not sent at this moment. */
export type Wait = {
  cause: (typeof waitCauses)[number]
  /** Those that are tried again. Null: all that are left. */
  recipients: number | null
  /** The reply or problem of the mail server, or the limit. */
  detail: string | null
  /** When it ends, or when it is tried again. Null if that is not known. */
  until: Date | null
}

export type WaitingParts = {
  read: BoundedRead
  senders: Senders
  servers: MailServers
  /** Whether all sending is paused. */
  findPause: (db: Reader) => Promise<unknown>
}

/** More parts and emails are not read. Those of a broadcast usually wait for the same. */
const partsMax = 100
const emailsMax = 500
/** A shorter wait for a rate is part of sending. */
const shortMs = 5_000

/** `showsDetails`: whether the caller may see problems of the mail server of the installation. */
export async function findWaits(parts: WaitingParts, broadcast: Broadcast, showsDetails: boolean): Promise<Wait[]> {
  if (!isDue(broadcast)) return []
  const { read } = parts
  const { organizationId, flowId, counts } = broadcast
  const from = await fromOf(parts, broadcast)
  const found = await read(organizationId, async (db) => ({
    pause: await parts.findPause(db),
    open: await selectWaitingParts(db, broadcast, partsMax),
    emails: (counts.queued ?? 0) > 0 ? await selectWaitingEmails(db, broadcast, emailsMax) : [],
  }))
  if (found.pause) return [{ ...everyone, cause: 'paused' }]
  if (flowId === null || from === undefined) return []
  const down = await outageOf(parts, broadcast, from, showsDetails)
  if (down) return [down]
  const ofParts = found.open.length > 0 ? await waitOfParts(parts, broadcast, from, found.open) : undefined
  return [...(ofParts ? [ofParts] : []), ...waitsOfEmails(found.emails, broadcast)]
}

const everyone = { recipients: null, detail: null, until: null }

/** Whether emails would be sent if nothing prevented it. */
const isDue = ({ status, startsAt, now }: Broadcast) =>
  status === 'sending' || status === 'preparing' || (status === 'scheduled' && startsAt !== null && startsAt < now)

/** Returns the sender of the first version. Those of variants usually are the same. */
async function fromOf({ read, senders }: WaitingParts, broadcast: Broadcast): Promise<string | undefined> {
  const { organizationId, flowId, flowVersionId, variants } = broadcast
  if (flowId === null) return undefined
  const [sender] = await read(organizationId, async (db) => {
    const versionId = flowVersionId ?? (await findFlowOf(db, organizationId, flowId, true))?.versionId
    const numbers = variants.flatMap(({ flow_version: number }) => number ?? [])
    return versionId ? selectSenders(db, { organizationId, flowId }, { versionId, numbers }) : []
  })
  if (!sender) return undefined
  return (await senderOf(senders, organizationId, { fromName: null, ...sender })).email
}

/** Returns a wait if no mail server accepts emails of the broadcast, by the stored state of servers and by that of this process. */
async function outageOf(
  { read, servers }: WaitingParts,
  broadcast: Broadcast,
  from: string,
  showsDetails: boolean,
): Promise<Wait | undefined> {
  const { organizationId } = broadcast
  await servers.load(organizationId)
  const all = servers.serversFor(
    { organizationId, id: newId('msg'), flowKind: kindOf(broadcast), mailServerId: null },
    from,
  )
  if (!all) return undefined
  const owners = [...new Set(all.flatMap(({ organizationId: owner }) => owner ?? []))]
  const stored = await read(organizationId, async (db) => {
    const states: ServerState[] = []
    for (const owner of owners) states.push(...(await findServerStates(db, owner)))
    return new Map(states.map((state) => [state.id, state]))
  })
  const problems = all.map((server) => problemOf(server, stored.get(server.id)))
  const [first] = problems
    .filter((problem) => problem !== undefined)
    .toSorted((a, b) => +(a.nextTryAt ?? 0) - +(b.nextTryAt ?? 0))
  if (!first || problems.includes(undefined)) return undefined
  const isOwn = all.some(({ organizationId: owner }) => owner === organizationId)
  return {
    cause: 'mail_server_unreachable',
    recipients: null,
    detail: isOwn ? `${first.name}: ${first.reason}` : showsDetails ? first.reason : null,
    until: first.nextTryAt,
  }
}

function problemOf(server: OpenServer, stored: ServerState | undefined) {
  const { name } = server
  if (stored?.status === 'failing') return { name, reason: stored.failure ?? '', nextTryAt: stored.nextTryAt }
  const state = server.state()
  return state.kind === 'down' ? { name, reason: state.reason, nextTryAt: state.nextTryAt } : undefined
}

/** Asks the same question as the sender, for the part that goes on next. */
async function waitOfParts(
  parts: WaitingParts,
  broadcast: Broadcast,
  from: string,
  open: readonly WaitingPart[],
): Promise<Wait | undefined> {
  const { organizationId, schedule, messagesPerHour } = broadcast
  const now = +broadcast.now
  const [{ dueAt, zone, isStarted }] = open as [WaitingPart]
  const { window, time_zone: fallback } = schedule
  const { limits } = await findLimits(parts, { organizationId, kind: kindOf(broadcast), from }, now)
  const used = limits.map(({ limit, use }) => new OpenLimit(limit, use, now))
  const rated = limits.find(({ limit }) => limit.perSecond !== null)
  const turn: Hold | undefined =
    schedule.per_recipient && !isStarted
      ? { cause: 'local_time', until: +dueAt, limit: null }
      : messagesPerHour !== null
        ? { cause: 'messages_per_hour', until: +dueAt, limit: null }
        : rated && { cause: 'limit', until: +dueAt, limit: rated.limit }
  const hold = holdOf({ hours: window && { window, zone: zone ?? fallback }, turn, limits: used }, now)
  if (!hold || hold.until - now < shortMs) return undefined
  const { cause, limit, until } = hold
  const detail = cause === 'messages_per_hour' ? String(messagesPerHour) : (limit?.name ?? null)
  return { ...everyone, cause, detail, until: new Date(until) }
}

const causeOf = ({ reason }: WaitingEmail): Wait['cause'] =>
  reason === serverDownReason ? 'mail_server_unreachable' : reason === limitReason ? 'limit' : 'deferred'

/** One for each cause, with the most frequent reply. */
function waitsOfEmails(emails: readonly WaitingEmail[], { counts, now }: Broadcast): Wait[] {
  const byCause = new Map<Wait['cause'], WaitingEmail[]>()
  for (const email of emails) {
    const same = byCause.get(causeOf(email))
    if (same) same.push(email)
    else byCause.set(causeOf(email), [email])
  }
  return [...byCause].map(([cause, same]) => ({
    cause,
    // Others than those that were read probably wait for the same as most of them.
    recipients: byCause.size === 1 ? (counts.queued ?? same.length) : same.length,
    detail: mostFrequent(same.map(({ relayReply, reason }) => relayReply ?? reason)),
    until: same.map(({ dueAt }) => dueAt).find((dueAt) => dueAt > now) ?? null,
  }))
}

function mostFrequent(texts: readonly (string | null)[]): string | null {
  const counts = new Map<string | null, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? null
}
