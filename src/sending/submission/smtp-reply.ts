import type { SMTPServer } from 'smtp-server'
import { Refusal, type RefusalType } from '../../platform/values/errors.ts'

/** An error with the reply code, the status code of RFC 3463 and the text that the client gets. */
export class SmtpReply extends Error {
  readonly responseCode: number
  readonly status: string

  constructor(responseCode: number, status: string, text: string) {
    super(`${status} ${text}`)
    this.responseCode = responseCode
    this.status = status
  }
}

const replies: Partial<Record<RefusalType, [code: number, status: string]>> = {
  unauthorized: [550, '5.7.1'],
  insufficient_scope: [550, '5.7.1'],
  forbidden: [550, '5.7.1'],
  sender_not_verified: [550, '5.7.1'],
  payload_too_large: [552, '5.3.4'],
  // The storage of the organization is full. Files are deleted after some time.
  conflict: [452, '4.3.1'],
  // The client keeps the email and repeats it later.
  rate_limited: [451, '4.7.1'],
  unavailable: [451, '4.3.0'],
}

/** The key is made from the Message-ID. */
const messageIdReused =
  'An email with this Message-ID and other content was accepted within the last 24 hours. Use a new Message-ID.'

/** Any other refusal concerns the email itself: the client must change it. */
const rejectedContent: [code: number, status: string] = [550, '5.6.0']

/** Returns the reply for an expected rejection, or undefined for any other error. */
export function replyFor(error: unknown): SmtpReply | undefined {
  if (error instanceof SmtpReply) return error
  if (!(error instanceof Refusal)) return undefined
  const [code, status] = replies[error.type] ?? rejectedContent
  return new SmtpReply(code, status, error.type === 'idempotency_key_reused' ? messageIdReused : error.message)
}

type Connection = SMTPServer['connections'] extends Set<infer Each> ? Each : never

const statusCode = /^[245]\.\d{1,3}\.\d{1,3} /

/**
 * Adapts the replies of a connection of smtp-server, which sends each of them with `send`:
 * - A text that starts with a status code gets no other one.
 * - A text of several lines becomes a reply of several lines.
 * - AUTH is not announced before STARTTLS if TLS is required, so that no client sends its key unencrypted.
 * - Without a sign-in, the text of 530 says what the client has to do first.
 */
export function adaptReplies(connection: Connection, { needsTls }: { needsTls: boolean }): void {
  const send = connection.send.bind(connection)
  connection.send = (code, data, context) => {
    if (Array.isArray(data)) {
      const isHidden = (line: string) => needsTls && !connection.secure && line.startsWith('AUTH ')
      send(
        code,
        data.filter((line) => !isHidden(line)),
        context,
      )
    } else if (code === 530) {
      send(code, needsTls && !connection.secure ? '5.7.0 Start TLS first.' : '5.7.0 Sign in first.', false)
    } else if (data?.includes('\n')) send(code, data.split('\n'), context)
    else send(code, data, data && statusCode.test(data) ? false : context)
  }
}
