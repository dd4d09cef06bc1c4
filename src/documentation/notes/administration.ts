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
    details:
      'Returns the user, the organization and the role that belong to the session, the alerts that the user receives, and an email address that is not confirmed yet.',
  },
  updateMe: {
    details:
      'The name is shown to the team and in invitations. Alerts are sent to owners; that an import has finished, to the user who started it.',
  },
  requestPasswordReset: {
    details:
      'The new link does not replace earlier ones: up to 3 are valid at the same time, until one of them is used. Without a mail server the email is in the built-in inbox, where only owners can read it.',
    errors: { rate_limited: 'Too many requests for this email address or from this client address.' },
  },
  checkPasswordReset: { errors: { not_found: 'The link was used or has expired.' } },
  resetPassword: {
    details:
      'The new password has 10 to 256 characters and must not be easy to guess. The user gets an email about the change.',
    errors: {
      not_found: 'The link was used or has expired.',
      validation_failed: 'The new password is too short or easy to guess. The link stays valid.',
    },
  },
  changeEmail: {
    details:
      'A new request replaces an earlier one. The response is the same if the address belongs to another account; its user gets an email without a link.',
    errors: {
      validation_failed: 'The current password is incorrect, or the address is not valid.',
      rate_limited: 'There were more than 5 requests in an hour.',
    },
  },
  cancelEmailChange: { details: 'Has no effect if no change is pending.' },
  checkEmailChange: { errors: { not_found: 'The link was used or replaced, or has expired.' } },
  confirmEmailChange: {
    details: 'Sessions stay valid. Sign in with the new address from now on.',
    errors: {
      not_found: 'The link was used or replaced, or has expired.',
      conflict: 'Another account uses the address now.',
    },
  },
  listSessions: { details: 'A user has at most 50 sessions; a further sign-in ends the oldest one.' },
  endSession: {
    details: 'Requests with the token of the session are rejected from now on.',
    errors: { not_found: 'You have no such session, or it has expired.' },
  },
  signOut: { details: 'The token of this request is rejected from now on. Other sessions of the account stay valid.' },
  signOutEverywhere: { details: 'Use it after a device was lost. Sign in again to get a new session.' },
  changePassword: {
    details: 'The new password has 10 to 256 characters. Failed attempts count like failed sign-ins.',
    errors: { validation_failed: 'The current password is incorrect, or the new one is too short or easy to guess.' },
  },

  getOrganization: { details: 'Returns the name, the time zone and the privacy settings of the organization.' },
  updateOrganization: {
    details:
      'Omitted fields keep their value. `timezone` is the default time zone of reports. `keep_addresses` stores the IP addresses of opens and clicks; it is off by default.',
    errors: { precondition_failed: 'The record was edited since the version in `If-Match`. Nothing was changed.' },
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
      'An invitation with an `email` is sent to it; otherwise, or with `send_email: false`, send `url` to the person you invite. An invitation is valid for seven days and can be used once. Without an `email`, anyone with the link can use it, and `role` must be `member`.',
    errors: {
      conflict: 'A member with this address already exists, or 100 invitations are pending.',
      rate_limited: 'The organization sent 30 invitations by email within an hour.',
    },
  },
  resendInvitation: {
    errors: {
      not_found: 'The invitation was used, withdrawn or has expired.',
      conflict: 'The invitation has no address, or was sent 5 times.',
      rate_limited: 'The invitation was sent less than a minute ago.',
    },
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
      unauthorized: 'With `existing_account`: the email address or the password is incorrect.',
      conflict:
        'An account with this address already exists, it is the only owner of its organization, or the organization has 500 members.',
    },
  },

  listApiKeys: {
    details: 'Newest first, without revoked keys. The keys themselves are not stored; `prefix` identifies a key.',
  },
  createApiKey: {
    details:
      'Give each program its own key with the scopes it needs, so that it can be revoked without affecting others. An organization can have 100 keys. Only people who may start broadcasts can create a key with `broadcasts:send`, and it works as long as its creator is a member with that permission.',
    errors: {
      conflict: 'The organization already has 100 keys.',
      forbidden: 'The caller may not start broadcasts, and `scopes` contains `broadcasts:send`.',
    },
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
