// Generated from docs/openapi.json by `npm run openapi`. Do not edit.

import { ManagementCaller, type ManagementOptions, type RequestOptions } from '../management-caller.ts'
import type { Body, Data, Item, Query } from '../operation-types.ts'
import type { PagedList } from '../paged-list.ts'

/** A client for the management API of a Waxwing server. Fields have the names of the API reference. */
export class WaxwingManagement {
  readonly #caller: ManagementCaller

  constructor(options: ManagementOptions) {
    this.#caller = new ManagementCaller(options)
  }

  /**
   * Check that the process is running.
   *
   * `code` is 0 in this response; everywhere else it repeats the HTTP status. For liveness checks. Does not use the
   * database, because restarting the process would not fix it. `code` is 0 in this response.
   */
  getHealth(options?: RequestOptions): Promise<Data<'getHealth'>> {
    return this.#caller.call({ method: 'GET', path: '/health', isPublic: true, options })
  }

  /**
   * Check that the service is ready.
   *
   * For readiness checks. Responds with 200 if the database is reachable, writable and migrated.
   */
  getReady(options?: RequestOptions): Promise<Data<'getReady'>> {
    return this.#caller.call({ method: 'GET', path: '/ready', isPublic: true, options })
  }

  /**
   * Get the registration status.
   *
   * Registration is open while the installation has no user, or always if the operator sets `SIGNUP=open`. Sign-in pages
   * use this to decide which form to show.
   */
  getRegistrationStatus(options?: RequestOptions): Promise<Data<'getRegistrationStatus'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/auth/state', isPublic: true, options })
  }

  /**
   * Create an organization and its owner.
   *
   * Returns a session of the new owner. Passwords have 10 to 256 characters and must not be easy to guess. The first
   * organization of an installation is the one that operates it.
   */
  register(body: Body<'register'>, options?: RequestOptions): Promise<Data<'register'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/register', body, isPublic: true, options })
  }

  /**
   * Sign in.
   *
   * Returns a session token that is valid for twelve hours. Send it as `Authorization: Bearer <token>`. After 10 failed
   * attempts on an account from one address within 15 minutes, further attempts are rejected with 429.
   */
  login(body: Body<'login'>, options?: RequestOptions): Promise<Data<'login'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/login', body, isPublic: true, isRepeatable: true, options })
  }

  /**
   * Get an invitation.
   *
   * Shows who invited to what before it is accepted. The token in the link is the credential.
   */
  getInvitation(token: string, options?: RequestOptions): Promise<Data<'getInvitation'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/auth/invitations/${encodeURIComponent(token)}`, isPublic: true, options })
  }

  /**
   * Accept an invitation.
   *
   * Creates an account, or moves an existing one to the organization of the invitation. Works while registration is
   * closed. The link can be used once. Creates the account and returns its first session. If the invitation names an
   * address, `email` can be omitted; otherwise it is required.
   */
  acceptInvitation(body: Body<'acceptInvitation'>, options?: RequestOptions): Promise<Data<'acceptInvitation'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/accept-invitation', body, isPublic: true, options })
  }

  /**
   * Request a password reset.
   *
   * Sends an email with a link that is valid for 30 minutes, if the address has an account. The response is the same if
   * it has none. Limited to 3 requests per email address and 20 per client address in 15 minutes. The new link does not
   * replace earlier ones: up to 3 are valid at the same time, until one of them is used. Without a mail server the email
   * is in the built-in inbox, where only owners can read it.
   */
  requestPasswordReset(body: Body<'requestPasswordReset'>, options?: RequestOptions): Promise<Data<'requestPasswordReset'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/forgot-password', body, isPublic: true, options })
  }

  /**
   * Check a password reset link.
   *
   * Returns 404 if the link was used, has expired, or never existed. Does not use up the link.
   */
  checkPasswordReset(body: Body<'checkPasswordReset'>, options?: RequestOptions): Promise<Data<'checkPasswordReset'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/check-password-reset', body, isPublic: true, options })
  }

  /**
   * Set a new password with a reset link.
   *
   * The link can be used once. Ends all sessions of the account, makes its other links invalid, and returns a new
   * session. The new password has 10 to 256 characters and must not be easy to guess. The user gets an email about the
   * change.
   */
  resetPassword(body: Body<'resetPassword'>, options?: RequestOptions): Promise<Data<'resetPassword'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/reset-password', body, isPublic: true, options })
  }

  /**
   * Check a link to confirm an email address.
   *
   * Returns 404 if the link was used or replaced, has expired, or never existed. Does not use up the link.
   */
  checkEmailChange(body: Body<'checkEmailChange'>, options?: RequestOptions): Promise<Data<'checkEmailChange'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/check-email-change', body, isPublic: true, options })
  }

  /**
   * Confirm a new email address.
   *
   * The link can be used once. The old address receives a notice, and password reset links that were sent to it become
   * invalid. Sessions stay valid. Sign in with the new address from now on.
   */
  confirmEmailChange(body: Body<'confirmEmailChange'>, options?: RequestOptions): Promise<Data<'confirmEmailChange'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/auth/confirm-email-change', body, isPublic: true, options })
  }

  /**
   * Get the signed-in user.
   *
   * Returns the user, the organization and the role that belong to the session, the alerts that the user receives, and
   * an email address that is not confirmed yet.
   */
  getMe(options?: RequestOptions): Promise<Data<'getMe'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/me', options })
  }

  /**
   * Update your profile.
   *
   * Fields that are omitted keep their value. The name is shown to the team and in invitations. Alerts are sent to
   * owners; that an import has finished, to the user who started it.
   */
  updateMe(body: Body<'updateMe'>, options?: RequestOptions): Promise<Data<'updateMe'>> {
    return this.#caller.call({ method: 'PATCH', path: '/api/v1/me', body, options })
  }

  /**
   * Change the email address.
   *
   * Sends a link to the new address, valid for an hour. The old address stays in use until the link is used, and is
   * notified then. At most 5 requests per hour. A new request replaces an earlier one. The response is the same if the
   * address belongs to another account; its user gets an email without a link.
   */
  changeEmail(body: Body<'changeEmail'>, options?: RequestOptions): Promise<Data<'changeEmail'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/me/email', body, options })
  }

  /**
   * Cancel the change of the email address.
   *
   * The link that was sent to the new address becomes invalid. Has no effect if no change is pending.
   */
  cancelEmailChange(options?: RequestOptions): Promise<Data<'cancelEmailChange'>> {
    return this.#caller.call({ method: 'DELETE', path: '/api/v1/me/email', options })
  }

  /**
   * Change the password.
   *
   * Ends all sessions of this account and returns a new one. The new password has 10 to 256 characters. Failed attempts
   * count like failed sign-ins.
   */
  changePassword(body: Body<'changePassword'>, options?: RequestOptions): Promise<Data<'changePassword'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/me/password', body, options })
  }

  /**
   * List your sessions.
   *
   * The last used first. The time of the last use is accurate to 5 minutes. A user has at most 50 sessions; a further
   * sign-in ends the oldest one.
   */
  listSessions(options?: RequestOptions): Promise<Data<'listSessions'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/me/sessions', options })
  }

  /**
   * End a session.
   *
   * Signs out one device. Requests with the token of the session are rejected from now on.
   */
  endSession(id: string, options?: RequestOptions): Promise<Data<'endSession'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/me/sessions/${encodeURIComponent(id)}`, options })
  }

  /**
   * Sign out.
   *
   * Ends the current session. The token of this request is rejected from now on. Other sessions of the account stay
   * valid.
   */
  signOut(options?: RequestOptions): Promise<Data<'signOut'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/me/sign-out', options })
  }

  /**
   * Sign out everywhere.
   *
   * Ends all sessions of this account, including the current one. Use it after a device was lost. Sign in again to get a
   * new session.
   */
  signOutEverywhere(options?: RequestOptions): Promise<Data<'signOutEverywhere'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/me/sign-out-everywhere', isRepeatable: true, options })
  }

  /**
   * List event types.
   *
   * Each with an example of the webhook payload. The same catalog as under Webhook events.
   */
  listEventTypes(options?: RequestOptions): Promise<Data<'listEventTypes'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/event-types', options })
  }

  /**
   * Get the organization.
   *
   * Returns the name, the time zone and the privacy settings of the organization.
   */
  getOrganization(options?: RequestOptions): Promise<Data<'getOrganization'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization', options })
  }

  /**
   * Update the organization.
   *
   * Owners only. Omitted fields keep their value. `timezone` is the default time zone of reports. `keep_addresses`
   * stores the IP addresses of opens and clicks; it is off by default.
   */
  updateOrganization(body: Body<'updateOrganization'>, options?: RequestOptions): Promise<Data<'updateOrganization'>> {
    return this.#caller.call({ method: 'PATCH', path: '/api/v1/organization', body, options })
  }

  /**
   * Delete the organization and all of its data.
   *
   * Owners only. Signs out all members, revokes all API keys, and stops sending, tracking and webhooks immediately. All
   * data is erased in the background and cannot be restored. Requires the exact name of the organization and your own
   * password, so that it cannot happen by accident.
   */
  deleteOrganization(body: Body<'deleteOrganization'>, options?: RequestOptions): Promise<Data<'deleteOrganization'>> {
    return this.#caller.call({ method: 'DELETE', path: '/api/v1/organization', body, options })
  }

  /**
   * List members.
   *
   * An organization has at most 500 members.
   */
  listMembers(options?: RequestOptions): Promise<Data<'listMembers'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/members', options })
  }

  /**
   * Change the role or the permissions of a member.
   *
   * Owners only. Owners can change everything in the organization; members everything except the team and the
   * organization itself.
   */
  updateMember(id: string, body: Body<'updateMember'>, options?: RequestOptions): Promise<Data<'updateMember'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/members/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Remove a member.
   *
   * Owners only. Ends the sessions of the member and withdraws their pending invitations. API keys and webhooks that
   * they created keep working unless requested otherwise, but the keys can no longer start broadcasts.
   */
  removeMember(id: string, query: Query<'removeMember'> = {}, options?: RequestOptions): Promise<Data<'removeMember'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/members/${encodeURIComponent(id)}`, query, options })
  }

  /**
   * List pending invitations.
   *
   * Owners only. Accepted and expired invitations are not included.
   */
  listInvitations(options?: RequestOptions): Promise<Data<'listInvitations'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/invitations', options })
  }

  /**
   * Create an invitation.
   *
   * Owners only. An invitation with an address is sent by email, at most 30 per hour. `token` and `url` are only
   * returned in this response. An invitation with an `email` is sent to it; otherwise, or with `send_email: false`, send
   * `url` to the person you invite. An invitation is valid for seven days and can be used once. Without an `email`,
   * anyone with the link can use it, and `role` must be `member`.
   */
  createInvitation(body: Body<'createInvitation'>, options?: RequestOptions): Promise<Data<'createInvitation'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/invitations', body, options })
  }

  /**
   * Send an invitation again.
   *
   * Owners only. Sends a new link, which is valid for 7 days; the earlier link becomes invalid. At most once a minute
   * and 5 times per invitation.
   */
  resendInvitation(id: string, options?: RequestOptions): Promise<Data<'resendInvitation'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/invitations/${encodeURIComponent(id)}/resend`, options })
  }

  /**
   * Withdraw an invitation.
   *
   * Owners only. The link of a withdrawn invitation stops working immediately.
   */
  deleteInvitation(id: string, options?: RequestOptions): Promise<Data<'deleteInvitation'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/invitations/${encodeURIComponent(id)}`, options })
  }

  /**
   * List API keys.
   *
   * Newest first, without revoked keys. The keys themselves are not stored; `prefix` identifies a key.
   */
  listApiKeys(options?: RequestOptions): Promise<Data<'listApiKeys'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/api-keys', options })
  }

  /**
   * Create an API key.
   *
   * The `api_key` is only returned in this response. Give each program its own key with the scopes it needs, so that it
   * can be revoked without affecting others. An organization can have 100 keys. Only people who may start broadcasts can
   * create a key with `broadcasts:send`, and it works as long as its creator is a member with that permission.
   */
  createApiKey(body: Body<'createApiKey'>, options?: RequestOptions): Promise<Data<'createApiKey'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/api-keys', body, options })
  }

  /**
   * Revoke an API key.
   *
   * The key stops working immediately in this process and within two seconds in all others. This cannot be undone.
   */
  revokeApiKey(id: string, options?: RequestOptions): Promise<Data<'revokeApiKey'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/api-keys/${encodeURIComponent(id)}`, options })
  }

  /**
   * List contacts.
   *
   * Up to five words of `query` are searched in the address and the names, without regard to case and accents. All
   * filters can be combined.
   */
  listContacts(query: Query<'listContacts'> = {}, options?: RequestOptions): PagedList<Item<'listContacts'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/contacts', query, options })
  }

  /**
   * Create a contact.
   *
   * The contact is subscribed, unless its address unsubscribed earlier. `group_ids` adds it to at most 100 groups.
   * Attributes are free-form: at most 100 keys, 16 KiB as JSON, 10 levels deep.
   */
  createContact(body: Body<'createContact'>, options?: RequestOptions): Promise<Data<'createContact'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/contacts', body, options })
  }

  /**
   * Count contacts.
   *
   * Takes the same filters as the list of contacts. If there are more than 50,000 contacts and that takes longer than
   * 200 ms, the number is estimated from a sixteenth of them, unless `exact` is true. Then `approximate` is true.
   */
  countContacts(query: Query<'countContacts'> = {}, options?: RequestOptions): Promise<Data<'countContacts'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/contacts/count', query, options })
  }

  /**
   * Count the contacts of a segment.
   *
   * Counts its contacts now. If there are more than 50,000 contacts and that takes longer than 200 ms, the number is
   * estimated from a sixteenth of them, unless `exact` is true. Then `exact` in the response is false.
   */
  countSegment(id: string, query: Query<'countSegment'> = {}, options?: RequestOptions): Promise<Data<'countSegment'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/segments/${encodeURIComponent(id)}/count`, query, options })
  }

  /**
   * Get a contact.
   *
   * `status` combines the subscription of the contact with the suppressions of its address.
   */
  getContact(id: string, options?: RequestOptions): Promise<Data<'getContact'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/contacts/${encodeURIComponent(id)}`, options })
  }

  /**
   * Update a contact.
   *
   * Omitted fields keep their value, null clears a name, and attributes are replaced as a whole. Unsubscribing records a
   * contactUnsubscribe event. Subscribing removes an unsubscription, but no other suppression.
   */
  updateContact(id: string, body: Body<'updateContact'>, options?: RequestOptions): Promise<Data<'updateContact'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/contacts/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Erase a contact.
   *
   * Deletes all personal data: the contact, its group memberships, and its data in messages and events. Counts stay, and
   * so do suppressions of the address, so that it is not emailed again. This cannot be undone. Export the contact first
   * if you need a record of it.
   */
  deleteContact(id: string, options?: RequestOptions): Promise<Data<'deleteContact'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/contacts/${encodeURIComponent(id)}`, options })
  }

  /**
   * List bulk actions.
   *
   * The newest 20. Records are kept for 90 days.
   */
  listBulkActions(options?: RequestOptions): Promise<Data<'listBulkActions'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/bulk-actions', options })
  }

  /**
   * Change many contacts.
   *
   * Adds contacts to a group, removes them from it, unsubscribes, suppresses or erases them, in the background. Name the
   * contacts in `contact_ids`, or select all that match a filter with `matching`. The contacts are selected once, when
   * the action starts, so it does not matter if it changes what the filter tests. Contacts that are already in the
   * wanted state are counted in `processed`, but not in `changed`. An organization can have ten actions in progress.
   * Erasing cannot be undone.
   */
  createBulkAction(body: Body<'createBulkAction'>, options?: RequestOptions): Promise<Data<'createBulkAction'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/bulk-actions', body, options })
  }

  /**
   * Get a bulk action.
   *
   * Poll it about once a second until `finished_at` is set.
   */
  getBulkAction(id: string, options?: RequestOptions): Promise<Data<'getBulkAction'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/bulk-actions/${encodeURIComponent(id)}`, options })
  }

  /**
   * Cancel a bulk action.
   *
   * Contacts that were already changed stay changed.
   */
  cancelBulkAction(id: string, options?: RequestOptions): Promise<Data<'cancelBulkAction'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/bulk-actions/${encodeURIComponent(id)}/cancel`, isRepeatable: true, options })
  }

  /**
   * List the timeline of a contact.
   *
   * Messages, events and changes, newest first. `kind` is `message`, `event` or `change`; fields of other kinds are
   * null.
   */
  getContactTimeline(id: string, query: Query<'getContactTimeline'> = {}, options?: RequestOptions): PagedList<Item<'getContactTimeline'>> {
    return this.#caller.list({ method: 'GET', path: `/api/v1/organization/contacts/${encodeURIComponent(id)}/timeline`, query, options })
  }

  /**
   * List the consents of a contact.
   *
   * Every subscription and unsubscription, with its time, source and address. Newest first. The record of consent.
   * Contacts that were created by a send, or subscribed before this was recorded, may have no entries.
   */
  listContactConsents(id: string, options?: RequestOptions): Promise<Data<'listContactConsents'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/contacts/${encodeURIComponent(id)}/consents`, options })
  }

  /**
   * List groups.
   *
   * All groups, in one response. An organization can have 1,000.
   */
  listGroups(options?: RequestOptions): Promise<Data<'listGroups'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/groups', options })
  }

  /**
   * Create a group.
   *
   * Names are unique within the organization.
   */
  createGroup(body: Body<'createGroup'>, options?: RequestOptions): Promise<Data<'createGroup'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/groups', body, options })
  }

  /**
   * Get a group.
   *
   * `member_count` includes unsubscribed and suppressed contacts.
   */
  getGroup(id: string, options?: RequestOptions): Promise<Data<'getGroup'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/groups/${encodeURIComponent(id)}`, options })
  }

  /**
   * Rename a group.
   *
   * Membership does not change.
   */
  updateGroup(id: string, body: Body<'updateGroup'>, options?: RequestOptions): Promise<Data<'updateGroup'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/groups/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Delete a group.
   *
   * The contacts in the group are kept. This cannot be undone.
   */
  deleteGroup(id: string, options?: RequestOptions): Promise<Data<'deleteGroup'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/groups/${encodeURIComponent(id)}`, options })
  }

  /**
   * Add contacts to a group.
   *
   * Adds all contacts or, if one of them does not exist, none. 1 to 1,000 contacts. A contact that was only ever created
   * by a send becomes subscribed. `added` counts the contacts that were not in the group yet.
   */
  addContactsToGroup(id: string, body: Body<'addContactsToGroup'>, options?: RequestOptions): Promise<Data<'addContactsToGroup'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/groups/${encodeURIComponent(id)}/members`, body, isRepeatable: true, options })
  }

  /**
   * Remove a contact from a group.
   *
   * The contact itself and its subscription do not change.
   */
  removeContactFromGroup(id: string, contactId: string, options?: RequestOptions): Promise<Data<'removeContactFromGroup'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/groups/${encodeURIComponent(id)}/members/${encodeURIComponent(contactId)}`, options })
  }

  /**
   * List segments.
   *
   * All segments, in one response. An organization can have 500.
   */
  listSegments(options?: RequestOptions): Promise<Data<'listSegments'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/segments', options })
  }

  /**
   * Create a segment.
   *
   * Conditions are joined by `all` and `any`. Texts are compared without regard to case. Negative operators such as
   * `not_equals` also match contacts without a value. Engagement counts people by default; set `include_machines` to
   * count automated opens and clicks as well.
   */
  createSegment(body: Body<'createSegment'>, options?: RequestOptions): Promise<Data<'createSegment'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/segments', body, options })
  }

  /**
   * Get a segment.
   *
   * Count its contacts with `GET …/segments/{id}/count`, and list them with `GET …/contacts?segment_id=`.
   */
  getSegment(id: string, options?: RequestOptions): Promise<Data<'getSegment'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/segments/${encodeURIComponent(id)}`, options })
  }

  /**
   * Update a segment.
   *
   * Omitted fields keep their value; the filter is replaced as a whole.
   */
  updateSegment(id: string, body: Body<'updateSegment'>, options?: RequestOptions): Promise<Data<'updateSegment'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/segments/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Delete a segment.
   *
   * The contacts are kept. This cannot be undone.
   */
  deleteSegment(id: string, options?: RequestOptions): Promise<Data<'deleteSegment'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/segments/${encodeURIComponent(id)}`, options })
  }

  /**
   * List recent imports.
   *
   * The newest 20 imports. Reports are kept for 90 days.
   */
  listImports(options?: RequestOptions): Promise<Data<'listImports'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/imports', options })
  }

  /**
   * Get an import.
   *
   * Includes the progress of the import and the rejected rows. Poll it about once a second until `status` is `done`,
   * `failed` or `cancelled`.
   */
  getImport(id: string, options?: RequestOptions): Promise<Data<'getImport'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/imports/${encodeURIComponent(id)}`, options })
  }

  /**
   * Cancel an import.
   *
   * The import stops after the current batch of rows. Rows that were already imported are kept.
   */
  cancelImport(id: string, options?: RequestOptions): Promise<Data<'cancelImport'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/imports/${encodeURIComponent(id)}/cancel`, isRepeatable: true, options })
  }

  /**
   * Undo an import.
   *
   * Removes the contacts that the import created, restores the values that it changed, and removes the suppressions and
   * memberships that it added. Possible for 7 days after the import has finished or was cancelled. Later changes win:
   * contacts that were edited, emailed, unsubscribed or added to another group since then are kept, and so is every
   * value that was changed again. Runs in the background: poll the import until `undo.status` is `done`.
   */
  undoImport(id: string, options?: RequestOptions): Promise<Data<'undoImport'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/imports/${encodeURIComponent(id)}/undo`, options })
  }

  /**
   * Inspect a CSV file before importing it.
   *
   * The body is the start of the file, in UTF-8: its first 262144 bytes, or the whole file if it is smaller. Returns the
   * delimiter, the columns, some rows and a detected `mapping`, the starting point of the mapping for the import.
   * Nothing is stored.
   */
  inspectImportFile(body: string | Uint8Array<ArrayBuffer> | Blob, query: Query<'inspectImportFile'> = {}, options?: RequestOptions): Promise<Data<'inspectImportFile'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/contacts/import/inspect', query, body, contentType: 'text/csv', isRepeatable: true, options })
  }

  /**
   * Import contacts from a CSV file.
   *
   * The request body is the file: CSV in UTF-8, up to 512 MiB, delimited by comma, semicolon, tab or |. It is imported
   * in the background. Without a mapping, columns are detected by their headers: address, names and status by common
   * headers; all other columns, and the status, become attributes. Empty cells keep the existing value. The status
   * column suppresses addresses: unsubscribed, opted out, false, no and 0 unsubscribe; bounced, hard_bounce, cleaned,
   * complained, complaint, spam, suppressed, blocklisted and blacklisted suppress all email; subscribed, active,
   * confirmed, enabled, true, yes, 1 and an empty cell change nothing. Rows with any other status are rejected if a
   * mapping names the column; otherwise the status is ignored. No events are recorded, and unsubscribed contacts are
   * never resubscribed. An organization can have ten imports in progress. Larger lists: split the file.
   */
  importContacts(body: string | Uint8Array<ArrayBuffer> | Blob, query: Query<'importContacts'> = {}, options?: RequestOptions): Promise<Data<'importContacts'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/contacts/import', query, body, contentType: 'text/csv', options })
  }

  /**
   * List suppressions.
   *
   * Addresses that receive no email, or no marketing email if the reason is unsubscribe. Newest first. An address can
   * have several suppressions with different reasons.
   */
  listSuppressions(query: Query<'listSuppressions'> = {}, options?: RequestOptions): PagedList<Item<'listSuppressions'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/suppressions', query, options })
  }

  /**
   * Suppress an address.
   *
   * The address receives no email, neither transactional nor marketing. Suppressing an address again changes nothing.
   * The address does not need to be a contact.
   */
  createSuppression(body: Body<'createSuppression'>, options?: RequestOptions): Promise<Data<'createSuppression'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/suppressions', body, options })
  }

  /**
   * Remove the suppressions of an address.
   *
   * Removes the suppressions for all reasons. An unsubscribed contact becomes subscribed. Only remove a suppression for
   * a hard bounce or a complaint if you know that the address works and its owner wants your email.
   */
  deleteSuppression(email: string, options?: RequestOptions): Promise<Data<'deleteSuppression'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/suppressions/${encodeURIComponent(email)}`, options })
  }

  /**
   * Suppress a list of addresses.
   *
   * The list has one address per line, or several separated by commas, semicolons or tabs: at most 5000 addresses. Valid
   * addresses are suppressed even if others are rejected. Each entry has a result. Suppressing an address twice has no
   * effect.
   */
  suppressAddresses(body: Body<'suppressAddresses'>, options?: RequestOptions): Promise<Data<'suppressAddresses'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/suppressions/list', body, options })
  }

  /**
   * List flows.
   *
   * Newest first. Archived flows are only included if `status` is `archived`. `stats_30d` counts the last 30 days.
   */
  listFlows(query: Query<'listFlows'> = {}, options?: RequestOptions): PagedList<Item<'listFlows'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/flows', query, options })
  }

  /**
   * Create a flow.
   *
   * Subject, HTML and text are Liquid templates. They can use `contact.email`, `contact.first_name`,
   * `contact.last_name`, `contact.attributes`, `organization.name`, `unsubscribe_url`, and the keys of the `context` of
   * the send request. Filters, tags and limits are documented in the [templates guide](guides/templates). The flow is
   * active unless `status` says otherwise. A transactional flow is sent to everyone who is not suppressed; a marketing
   * flow is sent to subscribed contacts only and needs an unsubscribe link, which is added if the template has none.
   * `html` and `text` have at most 600,000 characters. `text` is derived from the HTML if it is omitted.
   */
  createFlow(body: Body<'createFlow'>, options?: RequestOptions): Promise<Data<'createFlow'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/flows', body, options })
  }

  /**
   * Get a flow.
   *
   * `variables` lists what the template needs from `context`.
   */
  getFlow(id: string, options?: RequestOptions): Promise<Data<'getFlow'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/flows/${encodeURIComponent(id)}`, options })
  }

  /**
   * Update a flow.
   *
   * A change of the content creates a new version. Omitted fields keep their value, also if other requests change the
   * flow at the same time. To reject the change if the flow was saved since you read it, send its `version` as
   * `base_version`. Emails that were accepted before keep their version.
   */
  updateFlow(id: string, body: Body<'updateFlow'>, options?: RequestOptions): Promise<Data<'updateFlow'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/flows/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Delete a flow.
   *
   * Messages that were sent through the flow and their counts are kept.
   */
  deleteFlow(id: string, options?: RequestOptions): Promise<Data<'deleteFlow'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/flows/${encodeURIComponent(id)}`, options })
  }

  /**
   * Get the draft of a flow.
   *
   * Responds with 404 if the flow has no unpublished changes. Sends use the published version. The `ETag` of the
   * response works with `If-Match`.
   */
  getFlowDraft(id: string, options?: RequestOptions): Promise<Data<'getFlowDraft'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/draft`, options })
  }

  /**
   * Save the draft of a flow.
   *
   * Sends keep using the published version. Omitted fields keep the value of the draft, or of the published version if
   * there is no draft. The template may be invalid; it is checked when the draft is published. If someone may have
   * changed the draft since you read it, send its `revision` as `base_revision` or its `ETag` as `If-Match`.
   */
  saveFlowDraft(id: string, body: Body<'saveFlowDraft'>, options?: RequestOptions): Promise<Data<'saveFlowDraft'>> {
    return this.#caller.call({ method: 'PUT', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/draft`, body, options })
  }

  /**
   * Discard the draft of a flow.
   *
   * The published version stays. A flow that was never published has nothing else, so delete it instead.
   */
  discardFlowDraft(id: string, options?: RequestOptions): Promise<Data<'discardFlowDraft'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/draft`, options })
  }

  /**
   * Publish the draft of a flow.
   *
   * Creates a version, which emails are sent with from now on, and activates a flow that was never published. Publishes
   * the draft exactly as you read it if you send its `revision` as `base_revision`. New sends use the version at once;
   * queued emails keep theirs.
   */
  publishFlow(id: string, body: Body<'publishFlow'>, options?: RequestOptions): Promise<Data<'publishFlow'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/publish`, body, options })
  }

  /**
   * Duplicate a flow.
   *
   * Creates an unpublished copy, with the unpublished changes if there are any. Nothing is sent through it until it is
   * published. The copy has the status `draft` and starts with version 0.
   */
  duplicateFlow(id: string, body: Body<'duplicateFlow'>, options?: RequestOptions): Promise<Data<'duplicateFlow'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/duplicate`, body, options })
  }

  /**
   * List flow versions.
   *
   * Newest first. `created_by` is the email address of the author.
   */
  listFlowVersions(id: string, options?: RequestOptions): Promise<Data<'listFlowVersions'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/versions`, options })
  }

  /**
   * Get a flow version.
   *
   * Returns the content of one version, for example to compare or restore it.
   */
  getFlowVersion(id: string, version: string, options?: RequestOptions): Promise<Data<'getFlowVersion'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}`, options })
  }

  /**
   * Preview an unsaved template.
   *
   * Renders exactly what would be sent. Errors in the template are part of a successful response, in `problems`;
   * `missing` lists variables without a value. Nothing is stored or sent.
   */
  previewTemplate(body: Body<'previewTemplate'>, options?: RequestOptions): Promise<Data<'previewTemplate'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/flows/preview', body, isRepeatable: true, options })
  }

  /**
   * Preview a flow.
   *
   * Fields of the request replace the saved ones. Otherwise like the preview of an unsaved template. Nothing is stored
   * or sent.
   */
  previewFlow(id: string, body: Body<'previewFlow'>, options?: RequestOptions): Promise<Data<'previewFlow'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/preview`, body, isRepeatable: true, options })
  }

  /**
   * Send an email to one contact.
   *
   * Sends an ordinary email, like the public API. It counts in metrics and triggers webhooks. For people who are signed
   * in. Apps use `sendEmailThroughFlow` of the public API.
   */
  sendFlow(id: string, body: Body<'sendFlow'>, options?: RequestOptions): Promise<Data<'sendFlow'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/send`, body, options })
  }

  /**
   * Send a test email.
   *
   * Sends the email of the flow to one address or several, also if the flow is paused. The subject starts with “[Test]”.
   * A test email counts in no metrics, triggers no webhooks and creates no contact; its message is marked `is_test` and
   * has no events, and its unsubscribe link unsubscribes no one. If `to` is invalid for one address, or a variable is
   * missing, nothing is sent. Suppressed addresses receive no test email either.
   */
  sendTestEmail(id: string, body: Body<'sendTestEmail'>, options?: RequestOptions): Promise<Data<'sendTestEmail'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/test`, body, options })
  }

  /**
   * List messages.
   *
   * Newest first. `status` is `queued`, `scheduled`, `sent`, `bounced`, `suppressed`, `failed` or `cancelled`. `query`
   * searches in address and subject.
   */
  listMessages(query: Query<'listMessages'> = {}, options?: RequestOptions): PagedList<Item<'listMessages'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/messages', query, options })
  }

  /**
   * Get a message.
   *
   * Includes its events and the email as it was sent. `html`, `text` and `context` are null after the contact was
   * erased.
   */
  getMessage(id: string, options?: RequestOptions): Promise<Data<'getMessage'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/messages/${encodeURIComponent(id)}`, options })
  }

  /**
   * Cancel a message.
   *
   * Cancels an email that is scheduled or queued. After a 200, the email is not sent. A scheduled or deferred email can
   * be cancelled until an attempt starts. Any other queued email can be cancelled while no worker has taken over its
   * queue, for example while sending is paused or the mail server is unreachable. Cancelling it again returns 200.
   */
  cancelMessage(id: string, options?: RequestOptions): Promise<Data<'cancelMessage'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/messages/${encodeURIComponent(id)}`, options })
  }

  /**
   * Send a message again.
   *
   * Sends a new message through the same flow to the same contact, with the same context. It uses the current version of
   * the flow and the current address of the contact. For example after a bounce of a full mailbox. Suppressions and
   * subscriptions are checked as for any other email.
   */
  sendMessageAgain(id: string, options?: RequestOptions): Promise<Data<'sendMessageAgain'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/messages/${encodeURIComponent(id)}/send-again`, options })
  }

  /**
   * List broadcasts.
   *
   * Newest first. Use `GET …/broadcasts/{id}` for the results of one broadcast.
   */
  listBroadcasts(query: Query<'listBroadcasts'> = {}, options?: RequestOptions): PagedList<Item<'listBroadcasts'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/broadcasts', query, options })
  }

  /**
   * Create a broadcast.
   *
   * Creates a draft. Nothing is sent until it is started or scheduled. Only `name` is required; a draft can be completed
   * later. `audience` takes up to 100 groups and 100 segments, minus excluded ones, with at most 200 conditions in all
   * segments together; a contact in several of them receives one email. `schedule.at` is a local time in
   * `schedule.time_zone`, so it stays correct when clocks are changed. A transactional flow needs `service_announcement:
   * true`.
   */
  createBroadcast(body: Body<'createBroadcast'>, options?: RequestOptions): Promise<Data<'createBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/broadcasts', body, options })
  }

  /**
   * Get a broadcast.
   *
   * Includes its progress and its results. With more than 10,000 recipients, the results are counted once in five
   * seconds. Poll it about once a second to show the progress.
   */
  getBroadcast(id: string, options?: RequestOptions): Promise<Data<'getBroadcast'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}`, options })
  }

  /**
   * Update a broadcast.
   *
   * Only drafts can be changed. `audience` and `schedule` are replaced as a whole.
   */
  updateBroadcast(id: string, body: Body<'updateBroadcast'>, options?: RequestOptions): Promise<Data<'updateBroadcast'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Delete a broadcast.
   *
   * Only broadcasts that were never started can be deleted.
   */
  deleteBroadcast(id: string, options?: RequestOptions): Promise<Data<'deleteBroadcast'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}`, options })
  }

  /**
   * Duplicate a broadcast.
   *
   * Creates a draft with the same content and audience. The planned time is copied as well; if it has passed, choose a
   * new one before the start. Groups and segments that were deleted since are left out.
   */
  duplicateBroadcast(id: string, options?: RequestOptions): Promise<Data<'duplicateBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/duplicate`, options })
  }

  /**
   * List the recipients of a broadcast.
   *
   * The recipients that were frozen at the start, with what happened to each. `queued` means that the mail server
   * deferred the email and it will be tried again. `suppressed` and `unsubscribed` recipients bounced, complained or
   * unsubscribed after the start.
   */
  listBroadcastRecipients(id: string, query: Query<'listBroadcastRecipients'> = {}, options?: RequestOptions): PagedList<Item<'listBroadcastRecipients'>> {
    return this.#caller.list({ method: 'GET', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/recipients`, query, options })
  }

  /**
   * List the links of a broadcast.
   *
   * The 100 links that were clicked most often, without clicks by scanners. Counts clicks since the start, by the URL as
   * it is in the email.
   */
  listBroadcastLinks(id: string, options?: RequestOptions): Promise<Data<'listBroadcastLinks'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/links`, options })
  }

  /**
   * Check a broadcast.
   *
   * Counts the recipients and finds missing variables, without sending anything. Renders the email for as many
   * recipients as fit into two seconds. Contacts that lack a variable would get the status `failed`; the others are
   * sent.
   */
  checkBroadcast(id: string, options?: RequestOptions): Promise<Data<'checkBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/check`, options })
  }

  /**
   * Send a test of a broadcast.
   *
   * Sends the email to one address, with the context of the broadcast. Test emails are not counted and ignore the
   * subscription of the address.
   */
  testBroadcast(id: string, body: Body<'testBroadcast'>, options?: RequestOptions): Promise<Data<'testBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/test`, body, options })
  }

  /**
   * Choose a variant of a broadcast.
   *
   * Sends this variant to the recipients outside the sample. Also ends the wait for the winner that would be chosen
   * automatically. While the sample is still being sent, the others follow when that has finished.
   */
  chooseBroadcastVariant(id: string, body: Body<'chooseBroadcastVariant'>, options?: RequestOptions): Promise<Data<'chooseBroadcastVariant'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/choose-variant`, body, options })
  }

  /**
   * Start a broadcast.
   *
   * Without a planned time, the version of the flow is pinned, the recipients are frozen in the background, and sending
   * begins. With `schedule.at`, the broadcast is scheduled. A service announcement needs `expected_unsubscribed` and,
   * with a session, an owner. Of several concurrent requests, one succeeds.
   */
  startBroadcast(id: string, body: Body<'startBroadcast'>, options?: RequestOptions): Promise<Data<'startBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/start`, body, options })
  }

  /**
   * Schedule a broadcast.
   *
   * Starts the broadcast at its planned time. The recipients are those of that time, so their number may differ from the
   * confirmed one. If the service is not running at that time, the broadcast is sent up to `missed_after_seconds` later,
   * and expires after that.
   */
  scheduleBroadcast(id: string, body: Body<'scheduleBroadcast'>, options?: RequestOptions): Promise<Data<'scheduleBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/schedule`, body, options })
  }

  /**
   * Pause a broadcast.
   *
   * No further email is sent until it is resumed. Emails that are being transferred at this moment still arrive.
   */
  pauseBroadcast(id: string, options?: RequestOptions): Promise<Data<'pauseBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/pause`, options })
  }

  /**
   * Resume a broadcast.
   *
   * Continues where it was paused.
   */
  resumeBroadcast(id: string, options?: RequestOptions): Promise<Data<'resumeBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/resume`, options })
  }

  /**
   * Cancel a broadcast.
   *
   * Recipients that were not sent an email yet get none, and get the status `cancelled` within seconds. This cannot be
   * undone.
   */
  cancelBroadcast(id: string, options?: RequestOptions): Promise<Data<'cancelBroadcast'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/cancel`, options })
  }

  /**
   * Retry the failed recipients of a broadcast.
   *
   * Sends a finished broadcast to the recipients with the status `failed`. Recipients that bounced or are suppressed are
   * not tried again.
   */
  retryBroadcastFailed(id: string, options?: RequestOptions): Promise<Data<'retryBroadcastFailed'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/broadcasts/${encodeURIComponent(id)}/retry-failed`, options })
  }

  /**
   * List emails in the built-in inbox.
   *
   * Emails that were not sent because no mail server is configured. Newest first. Account emails, such as password
   * resets and invitations, are returned to owners only; their `message_id` is null. Empty if a mail server is
   * configured.
   */
  listInboxEmails(query: Query<'listInboxEmails'> = {}, options?: RequestOptions): PagedList<Item<'listInboxEmails'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/inbox', query, options })
  }

  /**
   * Delete all emails of the built-in inbox.
   *
   * The messages are kept. This cannot be undone.
   */
  deleteInboxEmails(options?: RequestOptions): Promise<Data<'deleteInboxEmails'>> {
    return this.#caller.call({ method: 'DELETE', path: '/api/v1/organization/inbox', options })
  }

  /**
   * Get an email of the built-in inbox.
   *
   * At most 256 KiB of the email are parsed and returned.
   */
  getInboxEmail(id: string, options?: RequestOptions): Promise<Data<'getInboxEmail'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/inbox/${encodeURIComponent(id)}`, options })
  }

  /**
   * Get the sending status.
   *
   * Details of the mail server are only returned to its operators.
   */
  getSendingStatus(options?: RequestOptions): Promise<Data<'getSendingStatus'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/sending', options })
  }

  /**
   * Check the mail server and the DNS records.
   *
   * Only for owners of the organization that operates this installation. Connects to the mail server and looks up the
   * DNS records. Takes up to a few seconds. Sends no email.
   */
  checkSending(options?: RequestOptions): Promise<Data<'checkSending'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/sending/check', isRepeatable: true, options })
  }

  /**
   * List recent notices.
   *
   * The newest 20 notices, such as failing webhooks, an unreachable mail server and finished imports, newest first.
   * Notices are also sent by email to the owners.
   */
  listNotices(options?: RequestOptions): Promise<Data<'listNotices'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/notices', options })
  }

  /**
   * List events.
   *
   * Newest first. Events are kept as long as `EVENT_RETENTION_MONTHS` says (by default without limit); counts are always
   * kept.
   */
  listEvents(query: Query<'listEvents'> = {}, options?: RequestOptions): PagedList<Item<'listEvents'>> {
    return this.#caller.list({ method: 'GET', path: '/api/v1/organization/events', query, options })
  }

  /**
   * Get an event.
   *
   * Also returns changes of contacts, which are not listed.
   */
  getEvent(id: string, options?: RequestOptions): Promise<Data<'getEvent'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/events/${encodeURIComponent(id)}`, options })
  }

  /**
   * Get an overview.
   *
   * Daily counts of all event types, totals, and the flows that sent the most. `previous` has the totals of the
   * preceding period of the same length. `timezone` defaults to that of the organization. At most 731 days.
   */
  getOverview(query: Query<'getOverview'>, options?: RequestOptions): Promise<Data<'getOverview'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/overview', query, options })
  }

  /**
   * Get the onboarding checklist.
   *
   * Which steps of the introduction are done. Used by the start page of the web app.
   */
  getChecklist(options?: RequestOptions): Promise<Data<'getChecklist'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/checklist', options })
  }

  /**
   * Get the results of a flow.
   *
   * Daily counts and totals of all event types, and counts by link, receiving domain, bounce reason and version. Counts
   * come from counters, so the response does not depend on how many events there are. `unique` counts messages at their
   * first occurrence made by a person. A link is counted without the parts of its URL that are different for every
   * recipient. On each day, the first 50 links, 50 domains and 20 versions of a flow are counted individually, and all
   * others together.
   */
  getFlowResults(id: string, query: Query<'getFlowResults'>, options?: RequestOptions): Promise<Data<'getFlowResults'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/results`, query, options })
  }

  /**
   * List the clicks on a link of a flow.
   *
   * Newest first. Needs the exact `link` of the results. Clicks on days on which the link was counted together with
   * others are not listed.
   */
  listLinkClicks(id: string, query: Query<'listLinkClicks'>, options?: RequestOptions): PagedList<Item<'listLinkClicks'>> {
    return this.#caller.list({ method: 'GET', path: `/api/v1/organization/flows/${encodeURIComponent(id)}/link-clicks`, query, options })
  }

  /**
   * List webhooks.
   *
   * All webhooks, in one response. Signing secrets are never included.
   */
  listWebhooks(options?: RequestOptions): Promise<Data<'listWebhooks'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/webhooks', options })
  }

  /**
   * Create a webhook.
   *
   * The `signing_secret` is only returned in this response.
   */
  createWebhook(body: Body<'createWebhook'>, options?: RequestOptions): Promise<Data<'createWebhook'>> {
    return this.#caller.call({ method: 'POST', path: '/api/v1/organization/webhooks', body, options })
  }

  /**
   * List retry schedules.
   *
   * A delivery is retried after these delays unless it is acknowledged with 200 or rejected with a 4xx status.
   */
  listRetrySchedules(options?: RequestOptions): Promise<Data<'listRetrySchedules'>> {
    return this.#caller.call({ method: 'GET', path: '/api/v1/organization/webhooks/retry-schedules', options })
  }

  /**
   * Get a webhook.
   *
   * `failing_since` is the time of the first of the latest failures in a row. A webhook that fails for three days is
   * paused, and the owners are notified.
   */
  getWebhook(id: string, options?: RequestOptions): Promise<Data<'getWebhook'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}`, options })
  }

  /**
   * Update a webhook.
   *
   * Set `status` to pause or resume the webhook. Omitted fields keep their value. A paused webhook collects deliveries
   * and sends them when it is resumed.
   */
  updateWebhook(id: string, body: Body<'updateWebhook'>, options?: RequestOptions): Promise<Data<'updateWebhook'>> {
    return this.#caller.call({ method: 'PATCH', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}`, body, options })
  }

  /**
   * Delete a webhook.
   *
   * Pending deliveries are dropped, and the delivery log is deleted. This cannot be undone.
   */
  deleteWebhook(id: string, options?: RequestOptions): Promise<Data<'deleteWebhook'>> {
    return this.#caller.call({ method: 'DELETE', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}`, options })
  }

  /**
   * Rotate the signing secret.
   *
   * Returns a new `signing_secret`. Deliveries are signed with both secrets for `overlap_hours` (default 24; 0 drops the
   * previous secret immediately). During the overlap, `X-Service-Signature` has one `v1` for each secret, so that a
   * receiver can switch without losing deliveries. The overlap is at most 720 hours.
   */
  rotateWebhookSecret(id: string, body: Body<'rotateWebhookSecret'>, options?: RequestOptions): Promise<Data<'rotateWebhookSecret'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}/rotate-secret`, body, options })
  }

  /**
   * Send a test event.
   *
   * Sends a sample event and returns the attempt. The sample event has `"test": true` in its `data`. It is sent once,
   * without retries, and appears in the delivery log. The response arrives when the endpoint has answered, within 10
   * seconds.
   */
  testWebhook(id: string, body: Body<'testWebhook'>, options?: RequestOptions): Promise<Data<'testWebhook'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}/test`, body, options })
  }

  /**
   * List the deliveries of a webhook.
   *
   * Newest first. Deliveries are kept for 30 days (`WEBHOOK_LOG_DAYS`).
   */
  listWebhookDeliveries(id: string, query: Query<'listWebhookDeliveries'> = {}, options?: RequestOptions): PagedList<Item<'listWebhookDeliveries'>> {
    return this.#caller.list({ method: 'GET', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}/deliveries`, query, options })
  }

  /**
   * Get a delivery.
   *
   * Includes all attempts. `payload` is the exact body that was signed. `response_body` has at most 16 KiB.
   */
  getDelivery(id: string, options?: RequestOptions): Promise<Data<'getDelivery'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/deliveries/${encodeURIComponent(id)}`, options })
  }

  /**
   * Replay a delivery.
   *
   * Sends the same body again, with the same `webhook-id`. It starts with a new series of attempts.
   */
  replayDelivery(id: string, options?: RequestOptions): Promise<Data<'replayDelivery'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/deliveries/${encodeURIComponent(id)}/replay`, options })
  }

  /**
   * Replay failed deliveries of a webhook.
   *
   * Replays all deliveries that failed since the given time. `since` is a date or a time in ISO 8601. Deliveries that
   * fail while this runs are not included.
   */
  replayWebhookDeliveries(id: string, body: Body<'replayWebhookDeliveries'>, options?: RequestOptions): Promise<Data<'replayWebhookDeliveries'>> {
    return this.#caller.call({ method: 'POST', path: `/api/v1/organization/webhooks/${encodeURIComponent(id)}/replay`, body, options })
  }

  /**
   * Export everything stored about a contact.
   *
   * One JSON file for a person who asks for their data: the contact, its groups and history, messages with subject and
   * context, events, webhook deliveries, suppressions, emails in the built-in inbox and rejected import rows. Each list
   * has at most 10,000 entries and about 4 MiB, the newest first; `truncated` names lists that have more. The response
   * is streamed, with a `Content-Disposition` header that names a file.
   */
  exportContact(id: string, options?: RequestOptions): Promise<Data<'exportContact'>> {
    return this.#caller.call({ method: 'GET', path: `/api/v1/organization/contacts/${encodeURIComponent(id)}/export`, options })
  }
}
