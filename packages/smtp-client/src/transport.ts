/** Who sends to whom, as the relay hears it. One recipient a mail, since each mail has its own links and token. */
export type Envelope = { from: string; to: string }

/** The part of the conversation that was answered with no. Only `recipient` may say something about the contact. */
export type Stage = 'sender' | 'recipient' | 'data'

/** What the other side said about this mail: `reply` in its own words, `status` its enhanced code (`5.1.1`). */
export type Answer = { stage: Stage; replyCode: number; status: string | null; reply: string }

export type SendOutcome =
  /** 250 to the whole mail: from here on it is the relay's. */
  | { kind: 'accepted'; reply: string; queueId: string | null }
  /** 5xx: this mail will never be taken. */
  | ({ kind: 'refused' } & Answer)
  /** 4xx: this mail may be taken later. */
  | ({ kind: 'deferred' } & Answer)
  /**
   * The connection broke while this mail was on it, so it counts as an attempt. `maybeSent`: all of the mail had been
   * handed over and only the answer is missing; it must be sent again with the same Message-ID.
   */
  | { kind: 'interrupted'; because: string; maybeSent: boolean }
  /** The relay does not take any mail now. It says nothing about this one, which was not tried. */
  | { kind: 'unreachable'; because: string }

export type RelayState = { kind: 'up' } | { kind: 'down'; since: Date; because: string; nextTryAt: Date }

/** A whole message with its headers. */
export type Mail = { envelope: Envelope; raw: Buffer | string }

export interface Transport {
  /**
   * Takes a mail, or a function that writes it when a connection is free: mails that wait then take no room. Throws what
   * that function throws, and never for what the outside does.
   */
  send(mail: Mail | (() => Mail)): Promise<SendOutcome>
  /** How many more mails it takes now: 0 while the relay is down or enough are under way. */
  capacity(): number
  state(): RelayState
  /** Tries the relay up to the point where a mail would start. */
  check(): Promise<RelayState>
  /** Lets mails under way come to their end, within a limit. */
  close(): Promise<void>
}
