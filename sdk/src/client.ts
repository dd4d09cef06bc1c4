import { type Call, type CallOptions, callApi, clientOptions } from './call.ts'
import { WaxwingError } from './errors.ts'
import { EventFeed, type FeedPage } from './event-feed.ts'
import type { MetricEventName } from './events.ts'

/** The idempotency keys that the API accepts. */
const keyPattern = /^[\x21-\x7e]{1,255}$/

export type WaxwingOptions = {
  /** `wxk_…`, from the settings of your organization. */
  apiKey: string
  /** Where your Waxwing runs, for example `https://waxwing.example.com`. */
  baseUrl: string
  fetch?: typeof fetch
  /** Timeout of one attempt. Default 30,000. */
  timeoutMs?: number
  /** How often a failed call is retried. Default 2. */
  retries?: number
  /** The pause before the first retry; it doubles from there. Default 250. */
  retryDelayMs?: number
}

export type Scope =
  | 'contacts:read'
  | 'contacts:write'
  | 'flows:read'
  | 'flows:write'
  | 'flows:send'
  | 'messages:read'
  | 'messages:send'
  | 'broadcasts:read'
  | 'broadcasts:write'
  | 'broadcasts:send'
  | 'webhooks:read'
  | 'webhooks:write'
  | 'metrics:read'
  | 'analytics:read'
export type TokenCheck = { organizationId: string; organizationName: string; scopes: Scope[] }

/** Omitted fields are not changed; a name of null is cleared. */
export type GroupMember = {
  email: string
  firstName?: string | null
  lastName?: string | null
  attributes?: Record<string, unknown>
}
export type GroupMembersAdded = {
  groupId: string
  received: number
  created: number
  updated: number
  added: number
  alreadyMembers: number
  /** `email` is null if it was not a string. */
  rejected: { index: number; email: string | null; problem: string }[]
}

export type EmailToSend = {
  flowId: string
  contactEmail: string
  context?: Record<string, unknown>
  /** At most 90 days ahead. The email is sent at once if the time has passed or is omitted. A string is an RFC 3339 time. */
  sendAt?: Date | string
  /** At most 20 files of 10 MB each, and 15 MB together. */
  attachments?: Attachment[]
}
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
export type EmailAccepted = {
  messageId: string
  flowId: string
  contactId: string
  contactEmail: string
  contactCreated: boolean
  /** If "suppressed", nothing is sent and `reason` says why. */
  status: 'queued' | 'scheduled' | 'suppressed'
  reason: string | null
  queuedAt: string
  /** Null if the email is sent at once. */
  sendAt: string | null
  warnings: string[]
}

/** Dates are `YYYY-MM-DD`, both inclusive, in `timezone` (an IANA name, default UTC). */
export type MetricQuery = {
  eventName: MetricEventName
  startDate: string
  endDate: string
  timezone?: string
  flowId?: string
}
export type MetricCounts = { total: number; unique: number; machine: number }
export type EmailEventMetric = MetricCounts & {
  eventName: MetricEventName
  startDate: string
  endDate: string
  timezone: string
  series: (MetricCounts & { date: string })[]
}

/** A client for the public API of a Waxwing server. Every method is idempotent and retried automatically. */
export class Waxwing {
  /** All events of the organization, for programs that cannot receive webhooks or must not miss one. */
  readonly events: EventFeed
  readonly #baseUrl: string
  readonly #headers: Record<string, string>
  readonly #options: CallOptions

  constructor(options: WaxwingOptions) {
    if (!options.apiKey) throw new TypeError('apiKey is required.')
    if (/[^\x20-\x7e]/.test(options.apiKey.trim())) throw new TypeError('apiKey contains invalid characters.')
    const { baseUrl, ...rest } = clientOptions(options)
    this.#baseUrl = baseUrl
    this.#headers = { 'X-Api-Token': options.apiKey, Accept: 'application/json' }
    this.#options = rest
    this.events = new EventFeed(async (query, { waitMs, signal }) => {
      const url = `${this.#baseUrl}/public/api/v1/events${query}`
      const call: Call = { method: 'GET', url, headers: this.#headers, isRepeatable: true, signal }
      const timeoutMs = this.#options.timeoutMs + waitMs
      // Events have the field names of webhooks.
      return (await callApi<{ data: FeedPage }>(call, { ...this.#options, timeoutMs })).data
    })
  }

  /** Returns the organization and scopes of the key. */
  async checkToken(): Promise<TokenCheck> {
    return this.#call('GET', '/public/api/v1/token/check')
  }

  /**
   * Adds or updates up to 10,000 contacts. After a retry, `alreadyMembers` may include members added by the first
   * attempt.
   */
  async addGroupMembers({ groupId, members }: { groupId: string; members: GroupMember[] }): Promise<GroupMembersAdded> {
    return this.#call('POST', '/public/api/v1/contacts/add-group-members', {
      group_id: groupId,
      members: members.map(({ email, firstName, lastName, attributes }) => ({
        email,
        first_name: firstName,
        last_name: lastName,
        attributes,
      })),
    })
  }

  /** Returns once the email is durably queued. */
  async sendEmailThroughFlow(email: EmailToSend, options: SendOptions = {}): Promise<EmailAccepted> {
    const { flowId, contactEmail, context, sendAt, attachments } = email
    const body = {
      flow_id: flowId,
      contact_email: contactEmail,
      context,
      send_at: timeOf(sendAt),
      attachments: attachments?.map(attachmentBody),
    }
    return this.#call('POST', '/public/api/v1/flow/send-email-through-flow', body, idempotent(options))
  }

  /** Sends an email without a flow. Returns once it is durably queued. */
  async sendEmail(email: Email, options: SendOptions = {}): Promise<EmailSent> {
    return this.#call('POST', '/public/api/v1/emails', emailBody(email), idempotent(options))
  }

  /** Sends up to 100 emails. Each is accepted or rejected on its own, or with `atomic` all of them or none. */
  async sendEmails(emails: Email[], options: SendOptions & { atomic?: boolean } = {}): Promise<EmailResult[]> {
    const query = options.atomic ? '?atomic=true' : ''
    const body = emails.map(emailBody)
    const { results } = await this.#call<{ results: EmailResult[] }>(
      'POST',
      `/public/api/v1/emails/batch${query}`,
      body,
      idempotent(options),
    )
    return results
  }

  /** Cancels an email that is scheduled or queued. Throws `conflict` if it was sent or is being sent. */
  async cancelEmail(messageId: string): Promise<{ messageId: string; status: 'cancelled' }> {
    return this.#call('DELETE', `/public/api/v1/messages/${encodeURIComponent(messageId)}`)
  }

  /** Returns the number of events per day. */
  async getEmailEventMetric(query: MetricQuery): Promise<EmailEventMetric> {
    const parameters = new URLSearchParams({
      event_name: query.eventName,
      start_date: query.startDate,
      end_date: query.endDate,
      ...(query.timezone !== undefined && { timezone: query.timezone }),
      ...(query.flowId !== undefined && { flow_id: query.flowId }),
    })
    return this.#call('GET', `/public/api/v1/analytics/metrics/get-email-event-metric?${parameters}`)
  }

  async #call<Data>(
    method: Call['method'],
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Data> {
    const call: Call = {
      method,
      url: this.#baseUrl + path,
      headers: { ...this.#headers, ...headers },
      isRepeatable: true,
    }
    if (body !== undefined) {
      call.headers['Content-Type'] = 'application/json'
      call.body = JSON.stringify(body)
    }
    return inCamelCase((await callApi<{ data: unknown }>(call, this.#options)).data) as Data
  }
}

function idempotent({ idempotencyKey = crypto.randomUUID() }: SendOptions): Record<string, string> {
  // Other characters cannot be sent in a header and would look like a network error.
  if (!keyPattern.test(idempotencyKey)) {
    const message = 'The idempotencyKey must have 1 to 255 visible ASCII characters, without spaces.'
    throw new WaxwingError(message, { type: 'invalid_idempotency_key' })
  }
  return { 'Idempotency-Key': idempotencyKey }
}

const timeOf = (time: Date | string | undefined) => (time instanceof Date ? time.toISOString() : time)

const emailBody = ({ replyTo, sendAt, attachments, ...email }: Email) => ({
  ...email,
  reply_to: replyTo,
  send_at: timeOf(sendAt),
  attachments: attachments?.map(attachmentBody),
})

const attachmentBody = ({ filename, content, contentType, contentId }: Attachment) => ({
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

/** Responses contain no free-form objects, so all keys can be renamed. */
function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      inCamelCase(inner),
    ]),
  )
}
