export * from './client.ts'
export {
  type DeliveryHeaders,
  type VerificationFault,
  type VerifyOptions,
  WebhookVerificationError,
} from './delivery.ts'
export * from './errors.ts'
export * from './events.ts'
export { signWebhook, type WebhookToSign } from './signature.ts'
export { verifyWebhook } from './verify.ts'
