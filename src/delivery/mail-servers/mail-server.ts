import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { MailServerId, OrganizationId } from '../../platform/values/ids.ts'

/** `tls` from the first byte, `starttls` required, `opportunistic` (if offered, certificate not checked), or `none`. */
export type Security = 'tls' | 'starttls' | 'opportunistic' | 'none'
export type AuthMethod = 'none' | 'password' | 'oauth2'
export type MailServerStatus = 'untested' | 'working' | 'failing'

export type MailServerKey = { organizationId: OrganizationId; id: MailServerId }

/** A mail server as it is shown, without its credentials. */
export type MailServer = MailServerKey & {
  name: string
  preset: string | null
  host: string
  port: number
  security: Security
  username: string | null
  auth: AuthMethod
  /** Of the operator's organization: for organizations without a mail server for an email. */
  isShared: boolean
  kinds: FlowKind[]
  fromDomains: string[]
  priority: number
  weight: number
  connections: number
  messagesPerSecond: number | null
  messagesPerDay: number | null
  /** Whether the limits of receiving sites apply to its email. */
  shapeByReceiver: boolean
  hasWebhookSecret: boolean
  /** Whether an owner was the last to change how it connects. */
  isSetByOwner: boolean
  status: MailServerStatus
  failure: string | null
  failingSince: Date | null
  nextTryAt: Date | null
  testedAt: Date | null
  updatedAt: Date
  createdAt: Date
}
