import type { Notes } from '../types.ts'

export const administrationNotes: Notes = {
  getRegistrationStatus: {
    details:
      'Registration is open while the installation has no user, or always if the operator sets `SIGNUP=open`. Sign-in pages use this to decide which form to show.',
  },
  register: {
    details:
      'Returns a session of the new owner. Passwords have 10 to 256 characters and must not be easy to guess. The first organization of an installation is the one that operates it.',
    errors: {
      forbidden: 'Registration is closed. Ask an owner for an invitation.',
      conflict: 'An account with this email address already exists.',
    },
  },
  login: {
    details:
      'Returns a session token that is valid for twelve hours. Send it as `Authorization: Bearer <token>`. After 10 failed attempts on an account from one address within 15 minutes, further attempts are rejected with 429.',
    errors: { unauthorized: 'The email address or the password is incorrect. The two cases look the same.' },
  },
  getMe: {
    details: 'Returns the user, the organization and the role that belong to the session.',
  },
  signOutEverywhere: { details: 'Use it after a device was lost. Sign in again to get a new session.' },
  changePassword: {
    details: 'The new password has 10 to 256 characters. Failed attempts count like failed sign-ins.',
    errors: { validation_failed: 'The current password is incorrect, or the new one is too short or easy to guess.' },
  },

  getOrganization: { details: 'Returns the name, the time zone and the privacy settings of the organization.' },
  updateOrganization: {
    details:
      'Omitted fields keep their value. `timezone` is the default time zone of reports. `keep_addresses` stores the IP addresses of opens and clicks; it is off by default.',
  },
  deleteOrganization: {
    details: 'Requires the exact name of the organization and your own password, so that it cannot happen by accident.',
    errors: {
      conflict: 'The owners of this organization operate the installation, and other organizations use it.',
      not_found: 'The organization is already deleted.',
      validation_failed: 'The name or the password is incorrect.',
    },
  },
  listNotices: { details: 'Notices are also sent by email to the owners. Newest first.' },

  listMembers: { details: 'An organization has at most 500 members.' },
  updateMember: {
    details:
      'Owners can change everything in the organization; members everything except the team and the organization itself.',
    errors: { conflict: 'The member is the last owner.' },
  },
  removeMember: { errors: { conflict: 'The member is the last owner.' } },
  listInvitations: { details: 'Accepted and expired invitations are not included.' },
  createInvitation: {
    details:
      'Send `url` to the person you invite. An invitation is valid for seven days and can be used once. Without an `email`, anyone with the link can use it, and `role` must be `member`.',
    errors: { conflict: 'A member with this address already exists, or 100 invitations are pending.' },
  },
  deleteInvitation: { details: 'The link of a withdrawn invitation stops working immediately.' },
  getInvitation: {
    details: 'Shows who invited to what before it is accepted. The token in the link is the credential.',
    errors: { not_found: 'The invitation was used, withdrawn or has expired.' },
  },
  acceptInvitation: {
    details:
      'Creates the account and returns its first session. If the invitation names an address, `email` can be omitted; otherwise it is required.',
    errors: {
      not_found: 'The invitation was used, withdrawn or has expired.',
      conflict: 'An account with this address already exists, or the organization has 500 members.',
    },
  },

  listApiKeys: {
    details: 'Newest first, without revoked keys. The keys themselves are not stored; `prefix` identifies a key.',
  },
  createApiKey: {
    details:
      'Give each program its own key with the scopes it needs, so that it can be revoked without affecting others. An organization can have 100 keys.',
    errors: { conflict: 'The organization already has 100 keys.' },
  },
  revokeApiKey: {
    details:
      'The key stops working immediately in this process and within two seconds in all others. This cannot be undone.',
  },

  getHealth: {
    details:
      'For liveness checks. Does not use the database, because restarting the process would not fix it. `code` is 0 in this response.',
  },
  getReady: {
    details: 'For readiness checks. Responds with 200 if the database is reachable, writable and migrated.',
  },
  getOpenApiDocument: {
    details: 'The OpenAPI 3.1 document from which this reference is built, for code generators and API clients.',
  },
}
