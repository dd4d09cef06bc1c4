import { WaxwingError } from './errors.ts'

/** The idempotency keys that the API accepts. */
const keyPattern = /^[\x21-\x7e]{1,255}$/

/** A file that is sent with an email. */
export type Attachment = {
  filename: string
  /** The bytes of the file, or its content in base64. */
  content: Uint8Array | string
  /** Derived from the file name if omitted. */
  contentType?: string
  /** Shows an image in the HTML: `logo` for `<img src="cid:logo">`. */
  contentId?: string
}
/** An email without a flow. Each recipient gets a message of its own; nobody sees `bcc`. */
export type Email = {
  /** `hello@example.com` or `Example <hello@example.com>`. */
  from: string
  to: string | string[]
  cc?: string | string[]
  bcc?: string | string[]
  replyTo?: string | string[]
  subject: string
  html?: string
  /** Derived from `html` if omitted. */
  text?: string
  attachments?: Attachment[]
  headers?: Record<string, string>
  tags?: { name: string; value: string }[]
  /** Both are tracked by default. */
  tracking?: { opens?: boolean; clicks?: boolean }
  /** Default `transactional`. */
  kind?: 'transactional' | 'marketing'
  sendAt?: Date | string
}
export type EmailMessage = {
  id: string
  email: string
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
}
export type EmailSent = { id: string; messages: EmailMessage[]; warnings: string[] }
export type EmailProblem = { type: string; message: string; fields: { path: string; problem: string }[] }
export type EmailResult = ({ ok: true } & EmailSent) | { ok: false; error: EmailProblem }
export type SendOptions = {
  /**
   * Calls with the same key within 24 hours send one email. 1 to 255 visible ASCII characters. Generated if
   * omitted, so that retries are safe.
   */
  idempotencyKey?: string
}

/** An email as a whole, with all of its recipients. */
export type EmailStatus = {
  id: string
  subject: string
  /** `partly_sent`: not every recipient was sent the email, or not yet. */
  status: 'scheduled' | 'queued' | 'sent' | 'partly_sent' | 'cancelled' | 'failed'
  sendAt: string | null
  createdAt: string
  messages: {
    id: string
    email: string
    status: 'scheduled' | 'queued' | 'sent' | 'bounced' | 'suppressed' | 'failed' | 'cancelled'
    reason: string | null
  }[]
}

type Request = <Data>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Data>

/** Emails without a flow. All methods are idempotent and retried automatically. */
export class Emails {
  readonly #request: Request

  constructor(request: Request) {
    this.#request = request
  }

  /** Returns once the email is durably queued. */
  async send(email: Email, options: SendOptions = {}): Promise<EmailSent> {
    return this.#request('POST', '/public/api/v1/emails', emailBody(email), idempotent(options))
  }

  /** Sends up to 100 emails. Each is accepted or rejected on its own, or with `atomic` all of them or none. */
  async batch(emails: Email[], options: SendOptions & { atomic?: boolean } = {}): Promise<EmailResult[]> {
    const path = `/public/api/v1/emails/batch${options.atomic ? '?atomic=true' : ''}`
    const body = emails.map(emailBody)
    const { results } = await this.#request<{ results: EmailResult[] }>('POST', path, body, idempotent(options))
    return results
  }

  /** Returns what became of an email for each of its recipients. The key needs the scope `messages:read`. */
  async get(id: string): Promise<EmailStatus> {
    return this.#request('GET', pathOf(id))
  }

  /** Changes the time of an email that is still scheduled for every recipient. Throws `conflict` otherwise. */
  async reschedule(id: string, { sendAt }: { sendAt: Date | string }): Promise<EmailStatus> {
    return this.#request('PATCH', pathOf(id), { send_at: timeOf(sendAt) })
  }

  /**
   * Cancels an email for every recipient for whom it was not handed to a mail server yet. Throws `conflict` if there is none.
   */
  async cancel(id: string): Promise<EmailStatus> {
    return this.#request('DELETE', pathOf(id))
  }
}

const pathOf = (id: string) => `/public/api/v1/emails/${encodeURIComponent(id)}`

export function idempotent({ idempotencyKey = crypto.randomUUID() }: SendOptions): Record<string, string> {
  // Other characters cannot be sent in a header and would look like a network error.
  if (!keyPattern.test(idempotencyKey)) {
    const message = 'The idempotencyKey must have 1 to 255 visible ASCII characters, without spaces.'
    throw new WaxwingError(message, { type: 'invalid_idempotency_key' })
  }
  return { 'Idempotency-Key': idempotencyKey }
}

export const timeOf = (time: Date | string | undefined) => (time instanceof Date ? time.toISOString() : time)

const emailBody = ({ replyTo, sendAt, attachments, ...email }: Email) => ({
  ...email,
  reply_to: replyTo,
  send_at: timeOf(sendAt),
  attachments: attachments?.map(attachmentBody),
})

export const attachmentBody = ({ filename, content, contentType, contentId }: Attachment) => ({
  filename,
  content: typeof content === 'string' ? content : base64Of(content),
  content_type: contentType,
  content_id: contentId,
})

const encodedBytesMax = 0x6000

/** Without `Buffer`, which edge runtimes do not have. In parts, because a call has a limited number of arguments. */
function base64Of(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += encodedBytesMax)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(start, start + encodedBytesMax))))
  return parts.join('')
}
