import type { Db } from '../../platform/db/db.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { notFound, Refusal } from '../../platform/values/errors.ts'
import {
  eventTypes,
  hasFlow,
  isOrganizationEventName,
  isSelectedByName,
  type WebhookEventName,
} from '../../platform/values/event-types.ts'
import { type DeliveryId, newId, type OrganizationId, type WebhookId } from '../../platform/values/ids.ts'
import { attemptDelivery, type DeliverParts } from './deliver.job.ts'
import { type Attempt, insertTestDelivery } from './deliveries.sql.ts'
import { webhookBody } from './envelope.ts'
import { findSecrets } from './signing-secrets.sql.ts'
import { openSecrets, unreadableSecret } from './signing-secrets.ts'
import { getWebhook } from './webhooks.ts'

export type TestParts = Pick<DeliverParts, 'safePost' | 'metrics'> & { db: Db; box: SecretBox }

/** Sends a sample event immediately, without retries, and adds it to the delivery log. */
export async function sendTestEvent(
  parts: TestParts,
  organizationId: OrganizationId,
  webhookId: WebhookId,
  eventName: WebhookEventName,
): Promise<{ deliveryId: DeliveryId; attempt: Attempt }> {
  const webhook = await getWebhook(parts.db, organizationId, webhookId)
  const sealed = await findSecrets(parts.db, organizationId, webhookId)
  if (!sealed) throw notFound('webhook')
  const secrets = openSecrets(sealed, (secret) => parts.box.open(secret))
  if (!secrets) throw new Refusal('conflict', `Not sent: ${unreadableSecret}.`)
  const eventId = newId('evt')
  const deliveryId = newId('dlv')
  const { machine = false, ...data } = eventTypes[eventName].example
  const body = webhookBody({
    organizationId,
    id: eventId,
    eventName,
    occurredAt: new Date(),
    messageId: isSelectedByName(eventName) ? null : newId('msg'),
    flowId: hasFlow(eventName) ? newId('flw') : null,
    machine,
    data,
    contact: isOrganizationEventName(eventName)
      ? null
      : { id: newId('con'), email: 'ada@example.com', firstName: 'Ada' },
    isTest: true,
  })
  const toAttempt = { id: deliveryId, eventName, url: webhook.url, body, secrets, number: 1, rules: webhook }
  const attempted = await attemptDelivery(parts, toAttempt)
  if ('notSent' in attempted)
    throw new Refusal('unavailable', `Not sent: ${attempted.notSent}. Try again in a moment.`, { retryAfterSeconds: 1 })
  const { attempt } = attempted
  const delivery = { organizationId, id: deliveryId, webhookId, eventId, eventName, body, attempt }
  await parts.db.begin((tx) => insertTestDelivery(tx, delivery))
  return { deliveryId, attempt }
}
