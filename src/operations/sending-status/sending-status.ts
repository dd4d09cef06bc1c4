import { parseSmtpUrl, type SmtpTarget, type Transport } from '@waxwing/smtp-client'
import {
  type DkimSigner,
  lookUpRecords,
  type RecordState,
  type RecordToSet,
  recordsToSet,
  unchecked,
} from '../../delivery/delivery.ts'
import type { Reader } from '../../platform/db/db.ts'
import { rememberLast } from '../../platform/runtime/remember-last.ts'
import { within } from '../../platform/runtime/within.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { EmailSettings } from '../../sending/sending.ts'
import { findSendingQueue, type SendingQueue } from './sending-status.sql.ts'

const relayWithinMs = 15_000
/** Older observations are ignored. */
const freshMs = 60 * 60 * 1000
/** Longer than the oldest email stays pending while sending works, including pauses between attempts. */
const stuckMs = 2 * 60 * 1000
const stuck =
  'Emails are pending but none are being sent. Check the log of the sending processes (waxwing start, waxwing work).'

export type SendingStatusParts = {
  relay: Transport | undefined
  relayUrl: string | undefined
  dkim: DkimSigner | undefined
  settings: EmailSettings
  /** Name servers to use instead of the machine's, for tests. */
  nameServers?: readonly string[] | undefined
}

type Check = { at: Date; problem: string | null; records: ReadonlyMap<RecordToSet, RecordState> }
export type Health = { state: 'ok' | 'failing' | 'unknown'; lastError: string | null; nextTryAt: Date | null }

/** The status of the relay and the DNS records that it needs. The same for all organizations. */
export class SendingStatus {
  readonly target: SmtpTarget | undefined
  readonly #parts: SendingStatusParts
  readonly #recordsAt: (host: string) => RecordToSet[]
  /** Emails sent before this process started may have used other settings. */
  readonly #startedAtMs = Date.now()
  #last: Check | undefined
  #checking: Promise<void> | undefined

  constructor(parts: SendingStatusParts) {
    const { relayUrl, dkim, settings } = parts
    this.#parts = parts
    this.target = relayUrl === undefined ? undefined : parseSmtpUrl(relayUrl)
    this.#recordsAt = rememberLast((host: string) =>
      recordsToSet({
        sender: settings.mailFrom.email,
        bounceDomain: settings.bounceDomain,
        host,
        relayHost: this.target?.host,
        dkim,
      }),
    )
  }

  get #records(): RecordToSet[] {
    return this.#recordsAt(new URL(this.#parts.settings.baseUrl).hostname)
  }

  get checkedAt(): Date | null {
    return this.#last?.at ?? null
  }

  get records(): (RecordToSet & RecordState)[] {
    return this.#records.map((record) => ({ ...record, ...(this.#last?.records.get(record) ?? unchecked) }))
  }

  /** Combines the state of this process with the database, since another process may be sending. */
  health({ lastSentAt, waitingSince }: Pick<SendingQueue, 'lastSentAt' | 'waitingSince'>, now = Date.now()): Health {
    const state = this.#parts.relay?.state()
    if (state?.kind === 'down') return { state: 'failing', lastError: state.reason, nextTryAt: state.nextTryAt }
    const nextTryAt = null
    const sentMs = lastSentAt?.getTime() ?? 0
    const idleSince = Math.max(sentMs, waitingSince?.getTime() ?? now)
    if (waitingSince && now - idleSince > stuckMs) return { state: 'failing', lastError: stuck, nextTryAt }
    if (!state) return { state: 'ok', lastError: null, nextTryAt }
    const checkedMs = this.#last?.at.getTime() ?? 0
    const provenMs = sentMs >= this.#startedAtMs ? sentMs : 0
    if (now - Math.max(provenMs, checkedMs) > freshMs) return { state: 'unknown', lastError: null, nextTryAt }
    // The more recent observation counts.
    const problem = provenMs >= checkedMs ? null : this.#last!.problem
    return { state: problem === null ? 'ok' : 'failing', lastError: problem, nextTryAt }
  }

  async isFailing(db: Reader, organizationId: OrganizationId): Promise<boolean> {
    return this.health(await findSendingQueue(db, organizationId, 1)).state === 'failing'
  }

  /** Checks the relay and the DNS records. Concurrent calls share one check. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #check(): Promise<void> {
    const records = this.#records
    const [problem, states] = await Promise.all([this.#tryRelay(), lookUpRecords(records, this.#parts.nameServers)])
    const found = records.map((record, index) => [record, states[index]!] as const)
    this.#last = { at: new Date(), problem, records: new Map(found) }
  }

  async #tryRelay(): Promise<string | null> {
    const { relay } = this.#parts
    if (!relay) return null
    const state = await within(relayWithinMs, relay.check())
    if (!state) return `the mail server did not respond within ${relayWithinMs / 1000} seconds`
    return state.kind === 'down' ? state.reason : null
  }
}
