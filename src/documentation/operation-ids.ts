/** Names that do not follow from method and path. */
const exceptions: Readonly<Record<string, string>> = {
  'GET /openapi.json': 'getOpenApiDocument',
  'GET /api/v1/auth/state': 'getRegistrationStatus',
  'POST /api/v1/auth/register': 'register',
  'POST /api/v1/auth/login': 'login',
  'GET /api/v1/auth/invitations/:token': 'getInvitation',
  'POST /api/v1/auth/accept-invitation': 'acceptInvitation',
  'POST /api/v1/auth/forgot-password': 'requestPasswordReset',
  'POST /api/v1/auth/check-password-reset': 'checkPasswordReset',
  'POST /api/v1/auth/reset-password': 'resetPassword',
  'POST /api/v1/auth/check-email-change': 'checkEmailChange',
  'POST /api/v1/auth/confirm-email-change': 'confirmEmailChange',
  'POST /api/v1/me/email': 'changeEmail',
  'DELETE /api/v1/me/email': 'cancelEmailChange',
  'GET /api/v1/me/sessions': 'listSessions',
  'DELETE /api/v1/me/sessions/:id': 'endSession',
  'POST /api/v1/me/sign-out': 'signOut',
  'POST /api/v1/me/sign-out-everywhere': 'signOutEverywhere',
  'POST /api/v1/me/password': 'changePassword',
  'DELETE /api/v1/organization/members/:id': 'removeMember',
  'DELETE /api/v1/organization/api-keys/:id': 'revokeApiKey',
  'GET /api/v1/organization/contacts/export': 'exportContacts',
  'GET /api/v1/organization/contacts/count': 'countContacts',
  'GET /api/v1/organization/segments/:id/count': 'countSegment',
  'GET /api/v1/organization/contacts/:id/export': 'exportContact',
  'POST /api/v1/organization/contacts/import': 'importContacts',
  'POST /api/v1/organization/contacts/import/inspect': 'inspectImportFile',
  'POST /api/v1/organization/groups/:id/members': 'addContactsToGroup',
  'DELETE /api/v1/organization/groups/:id/members/:contact_id': 'removeContactFromGroup',
  'POST /api/v1/organization/suppressions/list': 'suppressAddresses',
  'POST /api/v1/organization/flows/preview': 'previewTemplate',
  'PUT /api/v1/organization/flows/:id/draft': 'saveFlowDraft',
  'DELETE /api/v1/organization/flows/:id/draft': 'discardFlowDraft',
  'POST /api/v1/organization/flows/:id/test': 'sendTestEmail',
  'POST /api/v1/organization/messages/:id/send-again': 'sendMessageAgain',
  'GET /api/v1/organization/flows/:id/results': 'getFlowResults',
  'GET /api/v1/organization/flows/:id/link-clicks': 'listLinkClicks',
  'GET /api/v1/organization/broadcasts/:id/recipients/export': 'exportBroadcastRecipients',
  'DELETE /api/v1/organization/messages/:id': 'cancelMessage',
  'DELETE /public/api/v1/messages/:id': 'cancelEmail',
  'GET /api/v1/organization/inbox': 'listInboxEmails',
  'DELETE /api/v1/organization/inbox': 'deleteInboxEmails',
  'GET /api/v1/organization/inbox/:id': 'getInboxEmail',
  'GET /api/v1/organization/sending': 'getSendingStatus',
  'POST /api/v1/organization/sending/check': 'checkSending',
  'GET /api/v1/organization/webhooks/retry-schedules': 'listRetrySchedules',
  'POST /api/v1/organization/webhooks/:id/replay': 'replayWebhookDeliveries',
  'POST /providers/ses/events': 'receiveSesEvents',
  'POST /providers/sendgrid/events': 'receiveSendgridEvents',
  'POST /providers/mailgun/events': 'receiveMailgunEvents',
  'POST /providers/postmark/events': 'receivePostmarkEvents',
}

const verbOf: Readonly<Record<string, string>> = { POST: 'create', PUT: 'replace', PATCH: 'update', DELETE: 'delete' }

/**
 * Returns the name of an operation, which generated clients use as the name of their method: `listWebhooks`,
 * `createWebhook`, `updateWebhook`, `rotateWebhookSecret`. Paths of the public API end with an action, which is the name:
 * `sendEmailThroughFlow`. `path` has parameters as in `/flows/:id`.
 */
export function operationIdOf(method: string, path: string): string {
  const exception = exceptions[`${method} ${path}`]
  if (exception) return exception
  const segments = path
    .replace(/^(\/public)?\/api\/v1\/(organization\/(?=\w))?/, '')
    .split('/')
    .filter(Boolean)
  const words = segments.filter((segment) => !segment.startsWith(':'))
  const last = words.at(-1) ?? ''
  if (path.startsWith('/public/')) return inCamelCase(last.includes('-') ? [last] : [last, ...words.slice(0, -1)])

  const parents = words.slice(0, -1).map(singular)
  const isItem = segments.at(-1) !== last
  const isPlural = singular(last) !== last
  if (method === 'GET')
    return inCamelCase([isPlural && !isItem ? 'list' : 'get', ...parents, isItem ? singular(last) : last])
  // POST …/:id/rotate-secret and …/:id/cancel: the last word is the verb.
  if (method === 'POST' && !isPlural && parents.length > 0) {
    const [verb, ...object] = last.split('-') as [string, ...string[]]
    return inCamelCase([verb, ...parents, ...object])
  }
  return inCamelCase([verbOf[method] ?? method.toLowerCase(), ...parents, singular(last)])
}

const singular = (word: string) =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.endsWith('ss') ? word : word.replace(/s$/, '')

const inCamelCase = (parts: string[]) =>
  parts.join('-').replace(/[-_.]+(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Method and path of every exception, for the test that they exist. */
export const exceptionalRoutes = Object.keys(exceptions)
