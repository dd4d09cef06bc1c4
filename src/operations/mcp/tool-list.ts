import type { Scope } from '../../accounts/accounts.ts'

/** An operation of the API that is offered as a tool. Everything else about the tool follows from its route. */
export type ListedTool = {
  operationId: string
  /** Derived from the operation id unless given: `list_contacts` for `listContacts`. */
  name?: string
  /** What the parameter `id` in the path is called as an argument. */
  id?: string
  /** The query parameters and fields of the body that are offered. All of them unless given. */
  fields?: readonly string[]
  /** What an assistant should know in addition to the summary of the operation. */
  hint?: string
  /** Scopes that are needed in addition to that of the operation. */
  needs?: readonly Scope[]
  /** Does not change anything, although it is not a GET. */
  readOnly?: boolean
  /** Cannot be undone. */
  destructive?: boolean
  /** Sends to many people: asks the user first. */
  confirm?: 'recipients'
}

/**
 * The tools, picked by hand: nothing that manages keys, people or the organization, erases data or exports it as a whole,
 * and no way to set headers or hidden recipients of an email.
 */
export const listedTools: readonly ListedTool[] = [
  { operationId: 'listContacts', fields: ['query', 'group_id', 'segment_id', 'status', 'cursor', 'limit'] },
  { operationId: 'getContact', id: 'contact_id' },
  { operationId: 'getContactTimeline', id: 'contact_id', fields: ['cursor', 'limit'] },
  { operationId: 'createContact' },
  {
    operationId: 'updateContact',
    id: 'contact_id',
    hint: 'Subscribe again only if the person asked for it.',
  },
  { operationId: 'listGroups', fields: ['cursor', 'limit'] },
  { operationId: 'createGroup' },
  { operationId: 'addGroupMembers', hint: 'Creates missing contacts.' },
  { operationId: 'listSegments' },
  { operationId: 'listSuppressions' },
  { operationId: 'createSuppression' },
  { operationId: 'listFlows' },
  { operationId: 'getFlow', id: 'flow_id' },
  { operationId: 'getFlowResults', id: 'flow_id' },
  {
    operationId: 'previewFlow',
    id: 'flow_id',
    fields: ['context', 'contact_email', 'kind', 'subject', 'html', 'html_format', 'text', 'preheader'],
    readOnly: true,
    hint: 'Sends nothing.',
  },
  {
    operationId: 'saveFlowDraft',
    id: 'flow_id',
    fields: ['name', 'subject', 'html', 'text'],
    hint: 'A person publishes it in the web app.',
  },
  {
    operationId: 'sendEmailThroughFlow',
    fields: ['flow_id', 'contact_email', 'context', 'send_at'],
    hint: 'To one person. To send to many, create a broadcast.',
  },
  { operationId: 'cancelEmail', id: 'message_id' },
  {
    operationId: 'listMessages',
    fields: ['query', 'status', 'engagement', 'flow_id', 'contact_id', 'cursor', 'limit'],
  },
  { operationId: 'getMessage', id: 'message_id' },
  { operationId: 'listBroadcasts' },
  { operationId: 'getBroadcast', id: 'broadcast_id', hint: 'Includes the results.' },
  { operationId: 'listBroadcastLinks', id: 'broadcast_id' },
  {
    operationId: 'createBroadcast',
    fields: ['name', 'flow_id', 'audience', 'context', 'schedule'],
    hint: 'Creates a draft. Nothing is sent before start_broadcast.',
  },
  {
    operationId: 'updateBroadcast',
    id: 'broadcast_id',
    fields: ['name', 'flow_id', 'audience', 'context', 'schedule'],
  },
  {
    operationId: 'checkBroadcast',
    id: 'broadcast_id',
    fields: [],
    readOnly: true,
    hint: 'Call it before start_broadcast. Sends nothing.',
  },
  {
    operationId: 'startBroadcast',
    id: 'broadcast_id',
    fields: [],
    needs: ['broadcasts:write'],
    destructive: true,
    confirm: 'recipients',
    hint: 'Asks the user to confirm the number of recipients first. Does nothing if the client cannot ask.',
  },
  { operationId: 'pauseBroadcast', id: 'broadcast_id' },
  { operationId: 'cancelBroadcast', id: 'broadcast_id', destructive: true },
  { operationId: 'getEmailEventMetric', name: 'get_metrics' },
  { operationId: 'getOverview' },
  { operationId: 'listEvents' },
  { operationId: 'listWebhooks' },
  { operationId: 'listWebhookDeliveries', id: 'webhook_id' },
  { operationId: 'getDelivery', id: 'delivery_id' },
  { operationId: 'replayDelivery', id: 'delivery_id' },
]
