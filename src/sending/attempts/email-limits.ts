import type { SendOutcome } from '@waxwing/smtp-client'
import {
  type Carried,
  isRateDeferral,
  type Limit,
  type Limited,
  limitsOf,
  type MailServers,
  type OpenServer,
  type ReceivingSites,
  type SendingLimits,
  type Taken,
} from '../../delivery/delivery.ts'
import type { BounceDetail } from '../../platform/values/event-types.ts'
import { end, limitReason, serverDownReason } from './outcome.ts'
import type { Outcome, SendRow } from './send.sql.ts'

const waitMsMin = 1_000

type LimitParts = { limits: SendingLimits; sites: ReceivingSites }

/** Returns the server if it is the only one, works, and no limit applies. This is the usual case, which must cost nothing. */
export function onlyUnlimited(servers: readonly OpenServer[], warmUp: Limit | undefined): OpenServer | undefined {
  const [server] = servers
  if (servers.length !== 1 || !server || warmUp || server.shapeByReceiver) return undefined
  return limitsOf(server).length === 0 && server.state().kind === 'up' ? server : undefined
}

/** Reserves a place within the limits of an email: of the mail server, of the receiving site, and of the warm-up. */
export function takeLimits(
  { limits, sites }: LimitParts,
  row: SendRow,
  server: OpenServer,
  warmUp: Limit | undefined,
  isInBroadcast: boolean,
): Taken | Promise<Taken> {
  const { organizationId, hasWaited } = row
  const options = { isBulk: row.flowKind === 'marketing', hasWaited, isInBroadcast }
  const serverLimits = limitsOf(server)
  const others = warmUp ? [...serverLimits, warmUp] : serverLimits
  if (!server.shapeByReceiver) return limits.take(organizationId, others, options)
  const siteLimits = sites.limitsFor(deliveryOf(row, server))
  if (!(siteLimits instanceof Promise)) return limits.take(organizationId, [...siteLimits, ...others], options)
  return siteLimits.then((found) => limits.take(organizationId, [...found, ...others], options))
}

/** Other emails of the organization can be sent, so this one waits alone. */
export function waitForServer(servers: readonly OpenServer[]): Outcome {
  const states = servers.map((server) => server.state()).filter((state) => state.kind === 'down')
  const [first] = states.toSorted((a, b) => +a.nextTryAt - +b.nextTryAt)
  const retryInMs = Math.max(waitMsMin, first ? +first.nextTryAt - Date.now() : 0)
  return end(
    { status: 'queued', reason: serverDownReason, relayReply: first?.reason ?? null, waiting: 'server' },
    retryInMs,
  )
}

export function waitForLimit({ refused }: Limited): Outcome {
  const { cause, limit, waitMs } = refused
  const detail = `${cause === 'daily_limit' ? 'daily limit' : 'limit per second'} of ${limit.name}`
  return end(
    { status: 'queued', reason: limitReason, relayReply: detail, waiting: limit.waitsInBroadcast ? 'limit' : 'site' },
    waitMs,
  )
}

/** A site that asks for less email is slowed down. Nothing waits for it. */
export function reportDeferral({ sites }: LimitParts, row: SendRow, { server, outcome }: Carried): void {
  if (!server.shapeByReceiver) return
  const reply = rateReplyOf(outcome)
  // If the database is unavailable, it is reported by the next one.
  if (reply) sites.deferred(deliveryOf(row, server), reply, { isCertain: true }).catch(() => {})
}

/** After 421, the connection is closed. Without a status it concerns the mail server itself. */
const closedForRate = /\b421[ -]4\.7\.\d/

function rateReplyOf(outcome: SendOutcome): string | undefined {
  if (outcome.kind === 'interrupted') return closedForRate.test(outcome.reason) ? outcome.reason : undefined
  if (outcome.kind !== 'deferred' || outcome.stage === 'sender') return undefined
  return isRateDeferral(outcome.status) ? outcome.reply : undefined
}

/** Like `reportDeferral`, for a soft bounce that arrives later. It slows down only email of the same organization. */
export async function reportSoftBounce(
  { servers, sites }: { servers: MailServers; sites: ReceivingSites },
  { organizationId, email: address }: Pick<SendRow, 'organizationId' | 'email'>,
  { status, diagnostic }: BounceDetail,
): Promise<void> {
  if (!isRateDeferral(status)) return
  await servers.load(organizationId)
  if (!servers.shapes(organizationId)) return
  const delivery = { organizationId, serverOrganizationId: undefined, address }
  await sites.deferred(delivery, diagnostic ?? status!, { isCertain: false })
}

const deliveryOf = ({ organizationId, email }: SendRow, server: OpenServer) => ({
  organizationId,
  serverOrganizationId: server.organizationId,
  address: email,
})
