import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'

/** The keys of all cached queries. Invalidating a key also invalidates the keys that start with it. */
export const keys = {
  me: ['me'],
  sessions: ['sessions'],
  authState: ['auth-state'],
  invitation: (token: string) => ['invitation', token],
  passwordReset: (token: string) => ['password-reset', token],
  emailChange: (token: string) => ['email-change', token],
  checklist: ['checklist'],
  notices: ['notices'],
  overviews: ['overview'],
  overview: (range: object, timezone: string) => ['overview', range, timezone],
  events: (filter: object) => ['events', filter],

  contacts: ['contacts'],
  contactList: (filter: object) => ['contacts', 'list', filter],
  contact: (id: string) => ['contacts', id],
  contactTimeline: (id: string) => ['contacts', id, 'timeline'],
  contactCount: (filter: object) => ['contacts', 'count', filter],
  attributes: ['contacts', 'attributes'],
  groups: ['groups'],
  segments: ['segments'],
  segment: (id: string) => ['segments', id],
  bulkAction: (id: string) => ['bulk-actions', id],
  imports: ['imports'],
  contactImport: (id: string) => ['imports', id],
  suppressions: ['suppressions'],
  suppressionList: (filter: object) => ['suppressions', filter],
  suppressionReasons: (email: string) => ['suppression-reasons', email],

  flows: ['flows'],
  flowLists: ['flows', 'list'],
  flowList: (filter: object) => ['flows', 'list', filter],
  flowChoices: ['flows', 'choices'],
  flowFilter: ['flows', 'filter'],
  flow: (id: string) => ['flows', id],
  flowResults: (id: string, range: object, timezone: string) => ['flows', id, 'results', range, timezone],
  linkClicks: (id: string, filter: object) => ['flows', id, 'link-clicks', filter],
  flowDraft: (id: string, revision: number) => ['flows', id, 'draft', revision],
  flowVersions: (id: string) => ['flows', id, 'versions'],
  flowVersion: (id: string, version: number) => ['flows', id, 'versions', version],
  flowPreviews: ['flow-preview'],
  flowPreview: (input: object) => ['flow-preview', input],

  flowParts: ['flow-parts'],
  flowPart: (id: string) => ['flow-parts', id],
  images: ['images'],
  imageLists: ['images', 'list'],
  imageList: (filter: object) => ['images', 'list', filter],
  image: (id: string) => ['images', id],

  broadcasts: ['broadcasts'],
  broadcastLists: ['broadcasts', 'list'],
  broadcastList: (filter: object) => ['broadcasts', 'list', filter],
  broadcast: (id: string) => ['broadcasts', id],
  broadcastRecipients: (id: string, filter: object) => ['broadcasts', id, 'recipients', filter],
  broadcastLinks: (id: string) => ['broadcasts', id, 'links'],

  messages: ['messages'],
  messageList: (filter: object) => ['messages', 'list', filter],
  flowUsed: (flowId: string) => ['messages', 'used', flowId],
  newestContext: (flowId: string) => ['messages', 'context', flowId],
  newestMessage: (to: string) => ['messages', 'newest', to],
  message: (id: string) => ['messages', id],
  inbox: ['inbox'],
  inboxList: ['inbox', 'list'],
  inboxEmail: (id: string) => ['inbox', id],

  eventExports: ['event-exports'],
  eventExport: (id: string) => ['event-exports', id],
  webhooks: ['webhooks'],
  webhook: (id: string) => ['webhooks', id],
  webhookDeliveries: (id: string, filter: object) => ['webhooks', id, 'deliveries', filter],
  deliveries: ['deliveries'],
  delivery: (id: string) => ['deliveries', id],
  eventTypes: ['event-types'],
  retrySchedules: ['retry-schedules'],
  apiKeys: ['api-keys'],
  apiRequestList: (filter: object) => ['api-requests', 'list', filter],
  apiRequest: (id: string) => ['api-requests', id],

  organization: ['organization'],
  members: ['members'],
  invitations: ['invitations'],
  sending: ['sending'],
  brand: ['brand'],
  domains: ['domains'],
  domain: (id: string) => ['domains', id],
  domainWarmUp: (id: string) => ['domains', id, 'warm-up'],
  receivingSites: ['receiving-sites'],
  mailServers: ['mail-servers'],
  mailServer: (id: string) => ['mail-servers', id],
  mailServerPresets: ['mail-server-presets'],

  search: (kind: string, query: string) => ['search', kind, query],
  byId: (id: string) => ['by-id', id],
} as const satisfies Record<string, QueryKey | ((...args: never[]) => QueryKey)>

/** Returns a function that marks cached data as outdated and refetches what is shown. */
export function useInvalidate(): (...outdated: QueryKey[]) => Promise<unknown> {
  const queries = useQueryClient()
  return useCallback(
    (...outdated) => Promise.all(outdated.map((queryKey) => queries.invalidateQueries({ queryKey }))),
    [queries],
  )
}
