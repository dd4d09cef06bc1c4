import { setTimeout as sleep } from 'node:timers/promises'
import { parseSmtpUrl, type SmtpTarget, type Transport } from '@waxwing/smtp-client'
import type { DkimSigner } from '../mail/dkim.ts'
import { lookUpRecords, type RecordState, type RecordToSet, recordsToSet, unchecked } from '../mail/dns-records.ts'
import type { MailSettings } from '../messages/outgoing.ts'
import type { SendingFigures } from './sending-status.sql.ts'

const relayWithinMs = 15_000
/** What was seen so long ago says nothing about now. */
const freshMs = 60 * 60 * 1000
/** Longer than a working sender leaves the oldest mail while no other goes out, pauses between tries included. */
const stuckMs = 2 * 60 * 1000
const stuck =
  'Emails are pending but none goes out. See the log of the sending processes (waxwing start, waxwing work).'

export type SendingParts = {
  relay: Transport | undefined
  relayUrl: string | undefined
  dkim: DkimSigner | undefined
  settings: MailSettings
  /** Other than the machine's own, for tests. */
  nameServers?: readonly string[] | undefined
}

type Check = { at: Date; problem: string | null; records: RecordState[] }
export type Health = { state: 'ok' | 'failing' | 'unknown'; lastError: string | null; nextTryAt: Date | null }

/** Where mail goes, whether that works, and what has to stand in the DNS. The same for every organization. */
export class Sending {
  readonly target: SmtpTarget | undefined
  readonly #parts: SendingParts
  readonly #records: RecordToSet[]
  /** Emails sent before this process started may have used other settings. */
  readonly #startedAtMs = Date.now()
  #last: Check | undefined
  #checking: Promise<void> | undefined

  constructor(parts: SendingParts) {
    const { relayUrl, dkim, settings } = parts
    this.#parts = parts
    this.target = relayUrl === undefined ? undefined : parseSmtpUrl(relayUrl)
    this.#records = recordsToSet({
      sender: settings.mailFrom.email,
      bounceDomain: settings.bounceDomain,
      host: new URL(settings.baseUrl).hostname,
      relayHost: this.target?.host,
      dkim,
    })
  }

  get checkedAt(): Date | null {
    return this.#last?.at ?? null
  }

  get records(): (RecordToSet & RecordState)[] {
    return this.#records.map((record, index) => ({ ...record, ...(this.#last?.records[index] ?? unchecked) }))
  }

  /** By what is seen here, and by what is stored: mail may be sent by another process. */
  health({ lastSentAt, waitingSince }: Pick<SendingFigures, 'lastSentAt' | 'waitingSince'>, now = Date.now()): Health {
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

  /** Tries the relay and the name servers. Whoever asks while it goes on gets the same check. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #check(): Promise<void> {
    const [problem, records] = await Promise.all([
      this.#tryRelay(),
      lookUpRecords(this.#records, this.#parts.nameServers),
    ])
    this.#last = { at: new Date(), problem, records }
  }

  async #tryRelay(): Promise<string | null> {
    const { relay } = this.#parts
    if (!relay) return null
    const late = new AbortController()
    const state = await Promise.race([
      relay.check(),
      sleep(relayWithinMs, undefined, { signal: late.signal }).catch(() => undefined),
    ])
    late.abort()
    if (!state) return `the relay did not answer within ${relayWithinMs / 1000} seconds`
    return state.kind === 'down' ? state.reason : null
  }
}
