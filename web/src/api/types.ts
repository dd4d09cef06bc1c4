import type { components, paths } from '../../../sdk/src/generated/schema.ts'

// Names for the request and response types, all derived from the OpenAPI document.

type Json<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never
type Success<Responses> = Responses extends { 200: infer R }
  ? R
  : Responses extends { 201: infer R }
    ? R
    : Responses extends { 202: infer R }
      ? R
      : never
type Data<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  responses: infer R
}
  ? Json<Success<R>> extends { data: infer D }
    ? D
    : never
  : never
type Item<List> = List extends (infer I)[] ? I : never
type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: infer B
}
  ? NonNullable<B> extends { content: { 'application/json': infer C } }
    ? C
    : never
  : never

type Org = '/api/v1/organization'

type LoginResponse = Data<'/api/v1/auth/login', 'post'>
export type RegistrationStatus = Data<'/api/v1/auth/state', 'get'>
export type InvitationInfo = Data<'/api/v1/auth/invitations/{token}', 'get'>
export type Role = LoginResponse['user']['role']

export type Me = Data<'/api/v1/me', 'get'>
export type Permission = Item<Me['permissions']>
export type ProfileChange = Body<'/api/v1/me', 'patch'>
export type AlertKind = keyof Me['alerts']
export type SignedInSession = Item<Data<'/api/v1/me/sessions', 'get'>>

export type Organization = Data<Org, 'get'>
export type OrganizationInput = Body<Org, 'patch'>
export type Member = Item<Data<`${Org}/members`, 'get'>>
export type Invitation = Item<Data<`${Org}/invitations`, 'get'>>
export type CreatedInvitation = Data<`${Org}/invitations`, 'post'>
export type OrganizationNotice = Item<Data<`${Org}/notices`, 'get'>>
export type Checklist = Data<`${Org}/checklist`, 'get'>
export type SendingSetup = Data<`${Org}/sending/setup`, 'get'>
export type SendingStatus = Data<`${Org}/sending`, 'get'>
export type Domain = Data<`${Org}/domains/{id}`, 'get'>
export type DomainRecord = Item<Domain['records']>
export type WarmUp = NonNullable<Data<`${Org}/domains/{id}/warm-up`, 'get'>>
export type ReceivingSite = Item<Data<`${Org}/receiving-sites`, 'get'>>
export type ReceivingSiteLimits = Body<`${Org}/receiving-sites/{site}`, 'put'>
export type MailServer = Data<`${Org}/mail-servers/{id}`, 'get'>
export type MailServerInput = Body<`${Org}/mail-servers`, 'post'>
export type MailServerChange = Body<`${Org}/mail-servers/{id}`, 'patch'>
export type MailServerConnection = Body<`${Org}/mail-servers/test`, 'post'>
export type MailServerPreset = Item<Data<`${Org}/mail-server-presets`, 'get'>>
export type MailServerTest = Data<`${Org}/mail-servers/{id}/test`, 'post'>
export type DnsRecord = Item<SendingStatus['records']>
export type ApiKey = Item<Data<`${Org}/api-keys`, 'get'>>
export type Scope = Item<ApiKey['scopes']>
export type ApiRequest = Item<Data<`${Org}/api-requests`, 'get'>>
export type ApiRequestDetail = Data<`${Org}/api-requests/{id}`, 'get'>
export type ApiRequestStatus = NonNullable<
  NonNullable<paths[`${Org}/api-requests`]['get']['parameters']['query']>['status']
>

export type Contact = Data<`${Org}/contacts/{id}`, 'get'>
export type ContactStatus = Contact['status']
export type ContactOrder = NonNullable<NonNullable<paths[`${Org}/contacts`]['get']['parameters']['query']>['sort']>
export type ContactInput = Body<`${Org}/contacts/{id}`, 'patch'>
export type NewContact = Body<`${Org}/contacts`, 'post'>
export type TimelineEntry = Item<Data<`${Org}/contacts/{id}/timeline`, 'get'>>
export type Group = Item<Data<`${Org}/groups`, 'get'>>
export type Filter = components['schemas']['ContactFilter']
export type Segment = Item<Data<`${Org}/segments`, 'get'>>
export type BulkAction = Data<`${Org}/bulk-actions/{id}`, 'get'>
export type BulkActionInput = Body<`${Org}/bulk-actions`, 'post'>
export type ContactImport = Item<Data<`${Org}/imports`, 'get'>>
export type ContactImportDetail = Data<`${Org}/imports/{id}`, 'get'>
export type FileInspection = Data<`${Org}/contacts/import/inspect`, 'post'>
export type Suppression = Item<Data<`${Org}/suppressions`, 'get'>>
export type SuppressedList = Data<`${Org}/suppressions/list`, 'post'>
export type SuppressedAddress = SuppressedList['results'][number]
export type SuppressionReason = Suppression['reason']

export type Flow = Data<`${Org}/flows/{id}`, 'get'>
export type FlowRow = Item<Data<`${Org}/flows`, 'get'>>
export type FlowKind = Flow['kind']
export type FlowStatus = Flow['status']
export type SettableFlowStatus = Exclude<FlowStatus, 'draft'>
export type FlowDraft = Data<`${Org}/flows/{id}/draft`, 'get'>
export type Variable = Item<Flow['variables']>
/** The fields of a flow that the user edits. */
export type FlowText = Pick<
  Flow,
  | 'name'
  | 'kind'
  | 'subject'
  | 'html'
  | 'html_format'
  | 'text'
  | 'from_name'
  | 'from_email'
  | 'reply_to'
  | 'preheader'
  | 'utm'
>
export type Utm = NonNullable<Flow['utm']>
export type FlowResults = Data<`${Org}/flows/{id}/results`, 'get'>
export type FigureMessage = Item<Data<`${Org}/flows/{id}/results/messages`, 'get'>>
export type Figure = paths[`${Org}/flows/{id}/results/messages`]['get']['parameters']['query']['figure']
export type LinkClick = Item<Data<`${Org}/flows/{id}/link-clicks`, 'get'>>
export type TestEmail = Item<Data<`${Org}/flows/{id}/test`, 'post'>['emails']>
export type FlowVersionRow = Item<Data<`${Org}/flows/{id}/versions`, 'get'>>
export type FlowVersion = Data<`${Org}/flows/{id}/versions/{version}`, 'get'>
export type PreviewedEmail = Data<`${Org}/flows/preview`, 'post'>
export type TemplateProblem = Item<PreviewedEmail['problems']>
export type EmailBlocker = Item<PreviewedEmail['blockers']>
export type EmailFinding = Item<PreviewedEmail['findings']>
export type CheckedLink = Item<Data<`${Org}/flows/check-links`, 'post'>>

export type Brand = Data<`${Org}/brand`, 'get'>
export type BrandChange = Body<`${Org}/brand`, 'patch'>
export type FlowPartSummary = Item<Data<`${Org}/flow-parts`, 'get'>>
export type FlowPart = Data<`${Org}/flow-parts/{id}`, 'get'>
export type Image = Item<Data<`${Org}/images`, 'get'>>

export type Broadcast = Item<Data<`${Org}/broadcasts`, 'get'>>
export type BroadcastDetail = Data<`${Org}/broadcasts/{id}`, 'get'>
export type BroadcastStatus = Broadcast['status']
export type BroadcastEdit = Body<`${Org}/broadcasts/{id}`, 'patch'>
export type BroadcastCheck = Data<`${Org}/broadcasts/{id}/check`, 'post'>
export type BroadcastPlan = BroadcastCheck['plan']
export type AudienceCount = Data<`${Org}/broadcasts/count-audience`, 'post'>
export type BroadcastRecipient = Item<Data<`${Org}/broadcasts/{id}/recipients`, 'get'>>
export type RecipientStatus = BroadcastRecipient['status']
export type Engagement = NonNullable<
  NonNullable<paths[`${Org}/broadcasts/{id}/recipients`]['get']['parameters']['query']>['engagement']
>
export type BroadcastPreview = Data<`${Org}/broadcasts/{id}/preview`, 'post'>
export type BroadcastPreviewInput = Body<`${Org}/broadcasts/{id}/preview`, 'post'>
export type PreviewChanges = NonNullable<BroadcastPreviewInput['draft']>
export type BroadcastHours = Data<`${Org}/broadcasts/{id}/hours`, 'get'>
export type ComparedBroadcast = Item<Data<`${Org}/broadcasts/compare`, 'get'>>
export type BroadcastLink = Item<Data<`${Org}/broadcasts/{id}/links`, 'get'>>
export type Weekday = Item<NonNullable<Broadcast['schedule']['window']>['days']>

export type EventType = Item<Data<'/api/v1/event-types', 'get'>>
/** Everything that a webhook can receive: the events and the changes of contacts. */
export type WebhookEventName = EventType['event_name']
export type EmailEvent = Item<Data<`${Org}/events`, 'get'>>
export type EventName = EmailEvent['event_name']
export type Message = Item<Data<`${Org}/messages`, 'get'>>
export type MessageStatus = Message['status']
/** What can be selected in the list of messages. */
export type MessageEngagement = NonNullable<
  NonNullable<paths[`${Org}/messages`]['get']['parameters']['query']>['engagement']
>
export type MessageDetail = Data<`${Org}/messages/{id}`, 'get'>
export type EmailAttachment = Item<MessageDetail['attachments']>
/** An event in the details of its message. */
export type EventSummary = Item<MessageDetail['events']>
export type InboxRow = Item<Data<`${Org}/inbox`, 'get'>>
export type InboxEmail = Data<`${Org}/inbox/{id}`, 'get'>
export type Overview = Data<`${Org}/overview`, 'get'>

export type Webhook = Data<`${Org}/webhooks/{id}`, 'get'>
export type WebhookInput = Body<`${Org}/webhooks`, 'post'>
export type WebhookChange = Body<`${Org}/webhooks/{id}`, 'patch'>
export type EventExport = Data<`${Org}/event-exports/{id}`, 'get'>
export type EventExportInput = Body<`${Org}/event-exports`, 'post'>
export type EventExportChange = Body<`${Org}/event-exports/{id}`, 'patch'>
export type NewWebhook = Data<`${Org}/webhooks`, 'post'>
export type Delivery = Item<Data<`${Org}/webhooks/{id}/deliveries`, 'get'>>
export type DeliveryStatus = Delivery['status']
export type DeliveryDetail = Data<`${Org}/deliveries/{id}`, 'get'>
export type Attempt = Item<DeliveryDetail['attempts']>

/** The filters of the contacts page. `filter` is JSON text. */
export type ContactQuery = {
  query: string
  group_id: string
  segment_id: string
  import_id: string
  status: ContactStatus | ''
  filter: string
}
