import { Type } from 'typebox'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import { toText, type UserId } from '../../platform/values/ids.ts'
import type { User } from './accounts.sql.ts'
import { personMay } from './permissions.ts'
import { passwordLengthMax, passwordLengthMin } from './passwords.ts'

// Response schemas shared by several routes.

export const RoleOut = oneOf('owner', 'member')
export const UserOut = Named('User', {
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: RoleOut,
  can_start_broadcasts: Type.Boolean(),
  created_at: Timestamp,
})
export const SessionOut = Named('CreatedSession', {
  token: Type.String(),
  expires_at: Timestamp,
  organization_id: Type.String(),
  user: UserOut,
})
export const DefaultSenderOut = Named('DefaultSender', { name: Nullable(Type.String()), email: Type.String() })
export const OrganizationOut = Named('Organization', {
  id: Type.String(),
  name: Type.String(),
  timezone: Type.String(),
  keep_addresses: Type.Boolean({ description: 'Whether IP addresses of opens and clicks are stored.' }),
  default_sender: Nullable({
    ...DefaultSenderOut,
    description:
      'The sender of emails whose flow has none. Null: that of the installation, which is also used while the domain of this address is not verified any more.',
  }),
  created_at: Timestamp,
})
/** The creator of a credential. Null if it was created before this was recorded. */
export const CreatorOut = Nullable(
  Named('Creator', {
    id: Type.String(),
    email: Nullable(Type.String({ description: 'Null if the user is no longer a member.' })),
  }),
)
export const Credential = Type.String({ minLength: 1, maxLength: 1024 })
export const NewPassword = Type.String({ minLength: passwordLengthMin, maxLength: passwordLengthMax })
export const organizationNameMax = 200
export const nameMax = 200

export const userOut = outOf(
  UserOut,
  { id: 'usr' },
  { can_start_broadcasts: (user: User) => personMay(user, 'broadcasts:send') },
)

export const creatorOut = (id: UserId | null, email: string | null) => (id ? { id: toText('usr', id), email } : null)

export const organizationOut = outOf(OrganizationOut, { id: 'org' })
