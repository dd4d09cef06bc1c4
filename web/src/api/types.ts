export type Role = 'owner' | 'member'

export type User = { id: string; email: string; role: Role }
export type Signed = { token: string; expires_at: string; organization_id: string; user: User }
export type AuthState = { registration_open: boolean; has_users: boolean }
export type InvitationInfo = { organization_name: string; email: string | null; role: Role; expires_at: string }

export type Organization = {
  id: string
  name: string
  timezone: string
  keep_addresses: boolean
  retention_days: number | null
  created_at: string
}
export type Me = { user: User; organization: Organization; role: Role; mail: { transport: 'inbox' | 'smtp' } }
export type Member = { id: string; email: string; role: Role; created_at: string; last_login_at: string | null }
export type Invitation = { id: string; email: string | null; role: Role; created_at: string; expires_at: string }
export type NewInvitation = Invitation & { token: string; url: string }
export type Checklist = { sent: boolean; opened: boolean; clicked: boolean; api_key: boolean; webhook: boolean }

export type DnsRecord = {
  type: string
  name: string
  value: string
  purpose: string
  status: 'unchecked' | 'found' | 'missing' | 'different'
  found: string | null
}
export type Sending = {
  transport: 'inbox' | 'smtp'
  relay: { host: string; port: number; secure: boolean; user: string | null } | null
  mail_from: string
  state: 'ok' | 'failing' | 'unknown'
  last_error: string | null
  last_sent_at: string | null
  queued: number
  dkim: { domain: string; selector: string } | null
  bounce_domain: string | null
  records: DnsRecord[]
  checked_at?: string | null
}

export type Scope = 'contacts:write' | 'flows:send' | 'analytics:read'
export type ApiKey = {
  id: string
  name: string
  scopes: Scope[]
  prefix: string
  created_at: string
  last_used_at: string | null
}

export type Group = { id: string; name: string; member_count: number; created_at: string }
export type ContactStatus = 'subscribed' | 'not_subscribed' | 'unsubscribed' | 'suppressed'
export type Contact = {
  id: string
  email: string
  first_name: string | null
  last_name: string | null
  attributes: Record<string, unknown>
  status: ContactStatus
  created_at: string
  groups: { id: string; name: string }[]
}
export type TimelineEntry = {
  at: string
  kind: 'message' | 'event'
  event_name: EventName | null
  event_id: string | null
  message_id: string | null
  flow_id: string | null
  flow_name: string | null
  subject: string | null
  status: string | null
  machine: boolean
  detail: string | null
}
export type ContactImport = {
  id: string
  filename: string | null
  group_id: string | null
  status: 'queued' | 'running' | 'done' | 'failed'
  bytes_total: number
  bytes_done: number
  rows_done: number
  created: number
  updated: number
  rejected: number
  problem: string | null
  created_at: string
  finished_at: string | null
  errors?: { line: number; email: string | null; problem: string }[]
}
export type SuppressionReason = 'hard_bounce' | 'complaint' | 'manual' | 'unsubscribe'
export type Suppression = {
  email: string
  reason: SuppressionReason
  detail: string | null
  created_at: string
  message_id: string | null
}

export type FlowKind = 'transactional' | 'marketing'
export type FlowStatus = 'active' | 'paused' | 'archived'
export type Variable = { name: string; has_default: boolean }
export type TemplateProblem = { path: string; line?: number; column?: number; problem: string }
export type FlowText = {
  name: string
  kind: FlowKind
  subject: string
  html: string
  html_format: 'html' | 'mjml'
  text: string | null
  from_name: string | null
  from_email: string | null
  reply_to: string | null
}
export type Flow = FlowText & {
  id: string
  status: FlowStatus
  version: number
  variables: Variable[]
  created_at: string
  updated_at: string
}
export type FlowRow = Pick<
  Flow,
  'id' | 'name' | 'kind' | 'status' | 'subject' | 'version' | 'created_at' | 'updated_at'
> & {
  stats_30d: { sent: number; opens_unique: number; clicks_unique: number; bounces: number }
}
export type FlowVersionRow = { version: number; created_at: string; subject: string; created_by: string | null }
export type FlowVersion = Pick<FlowText, 'subject' | 'html' | 'html_format' | 'text'> & {
  version: number
  created_at: string
}
export type Preview = {
  subject: string | null
  html: string | null
  text: string | null
  variables: Variable[]
  missing: string[]
  problems: TemplateProblem[]
}

export type EventName =
  | 'emailSent'
  | 'emailOpen'
  | 'emailClick'
  | 'emailSoftBounce'
  | 'emailHardBounce'
  | 'emailComplaint'
  | 'contactUnsubscribe'
export type EventType = { event_name: EventName; description: string; example: unknown }
/** An event of a message that is known already. */
export type Happening = Pick<EmailEvent, 'id' | 'event_name' | 'occurred_at' | 'machine' | 'machine_reason' | 'data'>
export type EmailEvent = {
  id: string
  event_name: EventName
  occurred_at: string
  machine: boolean
  machine_reason: string | null
  message_id: string | null
  flow_id: string | null
  flow_name: string | null
  contact: { id: string; email: string; first_name: string | null } | null
  data: {
    url?: string
    user_agent?: string
    ip?: string
    bounce?: {
      type: string
      status: string | null
      reply_code: number | null
      reason: string
      diagnostic: string | null
    }
    feedback_type?: string
    method?: string
  }
}

export type MessageStatus = 'queued' | 'sent' | 'bounced' | 'suppressed' | 'failed'
export type Message = {
  id: string
  flow_id: string | null
  flow_name: string | null
  contact: { id: string; email: string }
  subject: string | null
  status: MessageStatus
  reason: string | null
  queued_at: string
  sent_at: string | null
}
export type MessageDetail = Message & {
  flow_version: number | null
  from: string | null
  html: string | null
  text: string | null
  relay_response: string | null
  events: Happening[]
}
export type InboxRow = {
  id: string
  message_id: string | null
  from: string
  to: string
  subject: string
  received_at: string
  size_bytes: number
}
export type InboxMail = InboxRow & {
  html: string | null
  text: string | null
  headers: { name: string; value: string }[]
  raw: string
}

export type Counts = { total: number; unique: number; machine: number }
export type Overview = {
  start_date: string
  end_date: string
  timezone: string
  totals: Record<EventName, Counts>
  previous: Record<EventName, Counts>
  series: ({ date: string } & Record<EventName, Counts>)[]
  top_flows: {
    flow_id: string
    name: string
    sent: number
    opens_unique: number
    clicks_unique: number
    bounces: number
    unsubscribes: number
  }[]
}

export type Webhook = {
  id: string
  name: string
  url: string
  event_types: EventName[]
  all_events: boolean
  status: 'active' | 'paused'
  created_at: string
  updated_at: string
  last_delivery_at: string | null
  failing_since: string | null
  secret_rotation_ends_at?: string | null
  paused_reason?: string | null
  stats_24h?: { delivered: number; failed: number; pending: number }
}
export type NewWebhook = Webhook & { signing_secret: string }
export type DeliveryStatus = 'pending' | 'delivered' | 'failed'
export type Delivery = {
  id: string
  webhook_id: string
  event_id: string | null
  event_name: EventName
  status: DeliveryStatus
  attempt_count: number
  next_attempt_at: string | null
  created_at: string
  delivered_at: string | null
}
export type Attempt = {
  number: number
  at: string
  duration_ms: number
  status_code: number | null
  outcome: string
  reason: string | null
  response_body: string | null
  request_headers?: Record<string, string>
}
export type DeliveryDetail = Delivery & { payload: string; attempts: Attempt[] }
export type TestResult = { delivery_id: string | null; attempt: Attempt }
