export * from './client.ts'
export {
  type DeliveryHeaders,
  type VerificationFault,
  type VerifyOptions,
  WebhookVerificationError,
} from './delivery.ts'
export { type CommandLine, runDeveloperCommand } from './developer-commands.ts'
export type {
  Attachment,
  Email,
  EmailMessage,
  EmailProblem,
  EmailResult,
  EmailSent,
  EmailStatus,
  Emails,
  SendOptions,
} from './emails.ts'
export * from './errors.ts'
export * from './event-feed.ts'
export * from './events.ts'
export { WaxwingManagement } from './generated/management-client.ts'
export type * from './generated/models.ts'
export { type ListenOptions, listen, newSigningSecret } from './listen.ts'
export type { ManagementOptions, RequestOptions } from './management-caller.ts'
export type { Body, Data, Item, OperationName, Query } from './operation-types.ts'
export { type Page, PagedList } from './paged-list.ts'
export { signWebhook, type WebhookToSign } from './signature.ts'
export { type Triggered, type TriggerOptions, trigger, triggerableEvents } from './trigger.ts'
export { verifyWebhook } from './verify.ts'
