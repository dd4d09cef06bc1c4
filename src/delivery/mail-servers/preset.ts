import type { FlowKind } from '../../platform/values/flow-kind.ts'
import type { Security } from './mail-server.ts'

/** The providers whose reports of bounces and complaints are understood. */
export type ReportProvider = 'ses' | 'sendgrid' | 'mailgun' | 'postmark'

export type Preset = {
  id: string
  name: string
  /** The first one is the default. */
  hosts: { host: string; label: string; kinds?: FlowKind[] }[]
  /** What the hosts differ in, if not the region. */
  hostsTitle?: string
  port: number
  security: Security
  /** The user name, if it is the same for everyone. */
  username: string | null
  usernameHint: string
  /** Whether the user name is the same secret as the password. */
  usernameIsPassword?: boolean
  passwordHint: string
  /** Where access tokens are requested, and for what, if the provider supports OAuth 2. */
  oauth: { tokenUrl: string; scope: string | null } | null
  provider: ReportProvider | null
  /** What to know before it works, in a sentence or two. */
  note: string
}
