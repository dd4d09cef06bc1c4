import type { MailSource, RelayState, SendOptions, SendOutcome, Transport } from '@waxwing/smtp-client'
import type { MailServerId, OrganizationId } from '../../platform/values/ids.ts'
import type { Routing } from './choose.ts'
import type { ReportProvider } from './preset.ts'

/** SMTP_URL, or a mail server of an organization, as this process uses it. */
export type OpenServer = Routing & {
  /** `installationServer` for SMTP_URL. */
  id: MailServerId
  /** Undefined for SMTP_URL. */
  organizationId: OrganizationId | undefined
  name: string
  host: string
  /** Whose reports of bounces are understood, if it is a known provider. */
  provider: ReportProvider | null
  messagesPerSecond: number | null
  messagesPerDay: number | null
  /** Whether the limits of receiving sites apply. */
  shapeByReceiver: boolean
  state(): RelayState
  send(mail: MailSource, options?: SendOptions): Promise<SendOutcome>
}

/** The id of SMTP_URL where mail servers are told apart. */
export const installationServer = '00000000-0000-0000-0000-000000000000' as MailServerId

/** A transport that is closed after its last email, when its settings have changed or its organization is idle. */
export class RetirableTransport {
  readonly #transport: Transport
  #inFlight = 0
  #isRetired = false

  constructor(transport: Transport) {
    this.#transport = transport
  }

  state(): RelayState {
    return this.#transport.state()
  }

  resize(connections: number): Promise<void> {
    return this.#transport.resize(connections)
  }

  get waiting(): number {
    return this.#transport.waiting
  }

  check(): Promise<RelayState> {
    return this.#transport.check()
  }

  async send(mail: MailSource, options?: SendOptions): Promise<SendOutcome> {
    this.#inFlight++
    try {
      return await this.#transport.send(mail, options)
    } finally {
      this.#inFlight--
      if (this.#isRetired && this.#inFlight === 0) void this.#transport.close()
    }
  }

  retire(): void {
    this.#isRetired = true
    if (this.#inFlight === 0) void this.#transport.close()
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}
