import type { MailSource, SendOptions, SendOutcome } from '@waxwing/smtp-client'
import type { Limit, Taken } from '../limits/sending-limits.ts'
import type { OpenServer } from './open-server.ts'
import type { ReportProvider } from './preset.ts'

export type Carried = { kind: 'carried'; server: OpenServer; outcome: SendOutcome }
/** The email may not be sent before `waitMs`, because of a limit of the server. */
export type Limited = { kind: 'limited'; server: OpenServer; refused: Taken & { kind: 'wait' } }

export type SendThroughOptions = SendOptions & {
  /** Reserves a place within the limits of a server. */
  take?: (server: OpenServer) => Taken | Promise<Taken>
  /** Whether the next server is tried if a limit is reached. */
  movesOn?: boolean
  /** Called with the outcome of each server that is tried. */
  onOutcome?: (carried: Carried) => void
}

/**
 * Sends an email through the first server that takes it. The next one is tried only if it is certain that the one before has
 * not accepted the email. A deferral counts even if a limit of the next one is reached. Returns undefined if all are down.
 */
export async function sendThrough(
  servers: readonly OpenServer[],
  mail: MailSource,
  { take, movesOn, onOutcome, bulk = false }: SendThroughOptions = {},
): Promise<Carried | Limited | undefined> {
  let last: Carried | Limited | undefined
  for (const server of servers) {
    if (server.state().kind === 'down') continue
    const taking = take?.(server)
    const taken = taking instanceof Promise ? await taking : taking
    if (taken?.kind === 'wait') {
      if (!isAttempt(last) && !(last?.kind === 'limited' && last.refused.waitMs <= taken.waitMs))
        last = { kind: 'limited', server, refused: taken }
      if (!movesOn) return last
      continue
    }
    const outcome = await server.send(mail, { bulk })
    if (!mayHaveAccepted(outcome)) taken?.giveBack()
    const carried: Carried = { kind: 'carried', server, outcome }
    onOutcome?.(carried)
    if (!mayMoveOn(outcome)) return carried
    if (!isAttempt(last) || outcome.kind !== 'unreachable') last = carried
  }
  return last
}

/** Whether the server has answered, so that the next attempt waits as long as the answer requires. */
const isAttempt = (result: Carried | Limited | undefined): boolean =>
  result?.kind === 'carried' && result.outcome.kind !== 'unreachable'

const mayHaveAccepted = (outcome: SendOutcome): boolean =>
  outcome.kind === 'accepted' || (outcome.kind === 'interrupted' && outcome.maybeSent)

/** A deferral before the recipient was named concerns the server and not the email. */
const mayMoveOn = (outcome: SendOutcome): boolean =>
  outcome.kind === 'unreachable' ||
  (outcome.kind === 'interrupted' && !outcome.maybeSent) ||
  (outcome.kind === 'deferred' && outcome.stage === 'sender')

/** The limits of a server itself. */
export function limitsOf({
  organizationId,
  id,
  name,
  messagesPerSecond,
  messagesPerDay,
}: OpenServer): readonly Limit[] {
  if (organizationId === undefined || (messagesPerSecond === null && messagesPerDay === null)) return none
  const rates = { perSecond: messagesPerSecond, perDay: messagesPerDay }
  return [{ organizationId, key: `server/${id}`, name, ...rates, waitsInBroadcast: true }]
}

const none: readonly Limit[] = []

export const noProviders: readonly ReportProvider[] = []

/** Returns the providers of the servers, whose webhooks identify an email by its headers. */
export function providersOf(servers: readonly OpenServer[]): readonly ReportProvider[] {
  // The usual case.
  if (servers.every(({ provider }) => provider === null)) return noProviders
  return servers.flatMap(({ provider }) => provider ?? [])
}
