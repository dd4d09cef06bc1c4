/** The SMTP envelope. One recipient per email, since each email has its own links. */
export type Envelope = { from: string; to: string }

/** The stage at which an email was rejected. Only `recipient` may concern the recipient's address. */
export type Stage = 'sender' | 'recipient' | 'data'

/** The relay's answer to an email: `reply` is the text, `status` the enhanced status code (`5.1.1`). */
type Answer = { stage: Stage; replyCode: number; status: string | null; reply: string }

export type SendOutcome =
  /** 250: the relay is now responsible for the email. */
  | { kind: 'accepted'; reply: string; queueId: string | null }
  /** 5xx: permanently rejected. */
  | ({ kind: 'refused' } & Answer)
  /** 4xx: may be accepted later. */
  | ({ kind: 'deferred' } & Answer)
  /**
   * The connection broke while this email was in flight. Counts as an attempt. If `maybeSent` is true, the complete
   * email was transferred and only the reply is missing; it must be sent again with the same Message-ID.
   */
  | { kind: 'interrupted'; reason: string; maybeSent: boolean }
  /** The relay does not accept any email at the moment. This one was not attempted. */
  | { kind: 'unreachable'; reason: string }
  /** The function that was to return the email returned why it must not be sent. Nothing was attempted. */
  | { kind: 'withdrawn'; skip: string }

export type RelayState = { kind: 'up' } | { kind: 'down'; since: Date; reason: string; nextTryAt: Date }

/** An email that is too large to be held in memory: its size in bytes, and its bytes, read when a connection is free. */
export type LargeEmail = { size: number; isAscii: boolean; chunks: () => AsyncIterable<Buffer> }

/** ASCII in lines of which none starts with a dot. All of them end with CRLF, also the last. It is sent as it is. */
export type ReadyEmail = { lines: string }

/** A complete message with its headers, and its envelope. */
export type Mail = { envelope: Envelope; raw: Buffer | string | ReadyEmail | LargeEmail }

/**
 * An email, or a function that is called when a connection is free, which saves memory. Nothing is sent if it returns a reason for
 * that.
 */
export type MailSource = Mail | (() => Mail | { skip: string })

/** Bulk emails wait until no other email is waiting for a connection, and have a limit of their own. */
export type SendOptions = { bulk?: boolean }

export interface Transport {
  /** Throws only what the function or reading a large email throws; network errors are outcomes. */
  send(mail: MailSource, options?: SendOptions): Promise<SendOutcome>
  /**
   * Changes the number of connections. Surplus ones are closed after their current emails; resolves when they are. The
   * capacity does not change.
   */
  resize(connections: number): Promise<void>
  /** How many more emails can be sent now. 0 while the relay is down or the limit is reached. */
  capacity(options?: SendOptions): number
  /** Emails that wait for a connection. */
  readonly waiting: number
  state(): RelayState
  /** Connects and completes the handshake without sending an email. */
  check(): Promise<RelayState>
  /** Waits for emails in flight, within a limit. */
  close(): Promise<void>
}
