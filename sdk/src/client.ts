import { type Call, type CallOptions, callApi, clientOptions } from './call.ts'
import { type Attachment, attachmentBody, Emails, idempotent, type SendOptions, timeOf } from './emails.ts'
import { EventFeed, type FeedPage } from './event-feed.ts'
import type { MetricEventName } from './events.ts'

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
  /** For example fields that members do not have, which were ignored. */
  warnings: string[]
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
  /** Emails without a flow. */
  readonly emails: Emails
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
    this.emails = new Emails((method, path, body, headers) => this.#call(method, path, body, headers))
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
