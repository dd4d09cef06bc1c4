const KiB = 1024
const MiB = 1024 * KiB

/** The limits of SMTP submission, per process. */
export const submissionLimits = {
  /** The size of an email as it is received: headers, text and encoded attachments. */
  emailBytesMax: 25 * MiB,
  /** What is read of an email after it was rejected. A client that sends more is disconnected. */
  discardedBytesMax: 25 * MiB,
  headerBytesMax: 128 * KiB,
  headerFieldsMax: 1_000,
  /** RFC 5322 allows 998 bytes, but some programs write HTML in one line. */
  lineBytesMax: 1 * MiB,
  commandBytesMax: 4 * KiB,
  recipientsMax: 100,
  connectionsMax: 1_000,
  connectionsPerAddressMax: 100,
  connectionsPerOrganizationMax: 100,
  /** Connections that have not signed in. At the limit, a new one replaces the oldest. */
  anonymousConnectionsMax: 200,
  /** Time to sign in, including the TLS handshake. */
  signInMs: 60_000,
  /** A connection is closed if its client sends nothing for this long. */
  idleMs: 120_000,
  /** From MAIL to the reply to the email. */
  transactionMs: 600_000,
  /** At the limit, an organization with several loses the one that has received nothing for the longest time. */
  transactionsMax: 60,
  transactionsPerOrganizationMax: 10,
  /** A client that sends an email more slowly is disconnected. */
  minimumRate: { bytesPerSecond: 20_000, graceMs: 20_000 },
  /** How long connections that are receiving an email are waited for when the service stops. */
  closeMs: 10_000,
}

export type SubmissionLimits = typeof submissionLimits
