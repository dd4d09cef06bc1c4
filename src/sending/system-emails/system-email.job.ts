import { compose } from '../../content/content.ts'
import { type Carrier, type Carriers, sendThrough, waitMsOf } from '../../delivery/delivery.ts'
import type { Db } from '../../platform/db/db.ts'
import { persisting } from '../../platform/db/retrying.ts'
import type { Claim } from '../../platform/queue/queue.ts'
import { endJobs, type Settlement, settleJobs } from '../../platform/queue/settle-jobs.ts'
import { EffectRecords, unrecordedOf } from '../../platform/queue/unrecorded.ts'
import { effectFailuresMax, type Handled, type WorkerSpec } from '../../platform/queue/worker-spec.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { domainOfAddress } from '../../platform/values/domain.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { MessageId, OrganizationId } from '../../platform/values/ids.ts'
import { isDemoAddress } from '../../platform/values/simulated-recipients.ts'
import type { EmailSettings, OutgoingEmail } from '../attempts/outgoing.ts'
import { insertIntoInbox } from '../inbox/inbox.ts'
import { type EmailContent, renderEmail } from './layout.ts'

/** Emails in flight in a process. A slow mail server of one organization does not delay those of others. */
const inFlightMax = 50
const perOrganizationMax = 10

/** All emails of a kind to users of an organization are in one lane. */
export const systemEmailLane = 'users'

type Kind = 'account' | 'notice'
export const systemEmailKind = { account: 'account.email', notice: 'notice.email' } as const
/** The wait before another attempt. Users wait for account emails. */
const retryMs: Record<Kind, number> = { account: 60_000, notice: 300_000 }

/** Without attachments. */
type ComposedEmail = OutgoingEmail & { raw: string }

export type SystemEmailParts = {
  db: Db
  log: Log
  settings: EmailSettings
  carriers: Carriers
}

/**
 * An email from the service to its users: an account email or a notice. The id, which is that of the job, is also used in the
 * Message-ID, so that duplicates can be recognized. `Carriers` says which emails are private.
 */
export type SystemEmail = {
  organizationId: OrganizationId
  id: MessageId
  email: string
  createdAt: Date
  content: EmailContent
  isPrivate: boolean
}

/**
 * Sends emails to users through the servers that may carry them. Those for which there are none, and those to accounts of the demo,
 * are kept in the built-in inbox. At least once: a crash between the server's 250 and our commit sends an email again, with the
 * same Message-ID. The emails are neither tracked nor counted in metrics. `load` returns undefined for those that are not
 * wanted any more.
 */
export const systemEmailJob = (
  parts: SystemEmailParts,
  kind: Kind,
  load: WorkerSpec<SystemEmail>['load'],
): WorkerSpec<SystemEmail> => {
  const records = new EffectRecords<Effect>(({ settlement }) => persisting(() => endJobs(parts.db, [settlement])))
  return {
    kind: systemEmailKind[kind],
    inFlightMax,
    perOrganizationMax: () => perOrganizationMax,
    laneWidthMax: perOrganizationMax,
    load,
    handle: (claim, email) => handle(parts, records, kind, claim, email),
    failuresMax: effectFailuresMax,
    giveUp: (claim) => endJobs(parts.db, [{ claim, retryInMs: null }]),
  }
}

type Effect = { settlement: Settlement }

async function handle(
  parts: SystemEmailParts,
  records: EffectRecords<Effect>,
  kind: Kind,
  claim: Claim,
  email: SystemEmail,
): Promise<Handled> {
  const { db, carriers, settings } = parts
  const record = ({ settlement }: Effect): Handled => {
    const recorded = records.add(claim.id, { settlement })
    return { peer: 'responsive', recorded, retryInMs: settlement.retryInMs }
  }
  const unrecorded = unrecordedOf(records, claim)
  if (unrecorded) return record(unrecorded)
  const carrier = isDemoAddress(email.email) ? undefined : await carriers.find(email)
  const outgoing = tryToCompose(parts, kind, email, carrier?.from ?? settings.mailFrom)
  if (!outgoing) return { peer: 'responsive', recorded: endJobs(db, [{ claim, retryInMs: null }]) }
  if (!carrier) return { peer: 'responsive', recorded: keepInInbox(db, kind, claim, email, outgoing) }
  const waitMs = waitMsOf(carrier.servers)
  const retryInMs = waitMs || ((await send(parts, carrier, kind, email, outgoing)) ? null : retryMs[kind])
  return record({ settlement: { claim, retryInMs, untried: waitMs > 0 } })
}

const keepInInbox = (db: Db, kind: Kind, claim: Claim, email: SystemEmail, outgoing: ComposedEmail): Promise<void> =>
  db.begin(async (tx) => {
    const { organizationId, id: messageId } = email
    const settled = await settleJobs(tx, [{ claim, retryInMs: null }])
    if (settled.size > 0)
      await insertIntoInbox(tx, [{ organizationId, messageId, ...outgoing, ownersOnly: kind === 'account' }])
  })

/** Returns false if the email has to be tried again. */
async function send(
  { log }: SystemEmailParts,
  { servers, signer }: Carrier,
  kind: Kind,
  email: SystemEmail,
  { raw, sender, recipient }: ComposedEmail,
): Promise<boolean> {
  const mail = { envelope: { from: sender, to: recipient }, raw: signer ? signer.sign(raw) : raw }
  const carried = await sendThrough(servers, mail)
  if (carried?.kind !== 'carried') return false
  const { outcome } = carried
  switch (outcome.kind) {
    case 'accepted':
      return true
    case 'refused':
      log.warn({ email: email.id, kind, reply: outcome.reply }, 'An email to a user was refused')
      return true
    case 'deferred':
    case 'interrupted':
    case 'unreachable':
    case 'withdrawn':
      return false
  }
}

/** Returns undefined if the address cannot be used in an email. It must not prevent the emails to others. */
function tryToCompose(
  { log }: SystemEmailParts,
  kind: Kind,
  email: SystemEmail,
  from: Carrier['from'],
): ComposedEmail | undefined {
  try {
    return composeEmail(kind, email, from)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    log.warn({ email: email.id, kind, problem: error.message }, 'An email to a user cannot be composed')
    return undefined
  }
}

/** `Auto-Submitted` and `X-Auto-Response-Suppress` prevent automatic replies. */
function composeEmail(kind: Kind, email: SystemEmail, from: Carrier['from']): ComposedEmail {
  const { subject } = email.content
  const { raw, recipient } = compose({
    id: email.id,
    domain: domainOfAddress(from.email),
    from,
    to: { email: email.email },
    subject,
    ...renderEmail(email.content),
    date: email.createdAt,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      'X-Waxwing-Mail': kind,
    },
  })
  return { raw, sender: from.email, recipient, subject }
}
