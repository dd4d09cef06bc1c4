import { signWebhook } from '@waxwing/sdk'
import type { Db } from '../../platform/db/db.ts'
import { reasonInWords, resultOfStatus } from '../../platform/egress/post-outcome.ts'
import { defaultRules } from '../../platform/egress/response-rules.ts'
import type { OrganizationId, WebhookId } from '../../platform/values/ids.ts'
import { toText } from '../../platform/values/ids.ts'
import type { Attempt } from './deliveries.sql.ts'
import { webhookBody } from './envelope.ts'
import { insertPastDeliveries, type PastEvent, selectNewestEvents } from './past-deliveries.sql.ts'

/** The response to one attempt. */
export type PastAnswer = { statusCode: number; durationMs: number; body: string }

type PastWebhook = { organizationId: OrganizationId; id: WebhookId; eventTypes: readonly string[]; secret: string }

const secondsBetween = [0, 30, 60, 120]

/**
 * Fills the log of a webhook for sample data: the newest events with bodies and signatures as they would have been sent, and with the
 * responses that `answersOf` returns. Nothing is sent.
 */
export async function addPastDeliveries(
  db: Db,
  { organizationId, id: webhookId, eventTypes, secret }: PastWebhook,
  { limit, answersOf }: { limit: number; answersOf: (event: PastEvent) => PastAnswer[] },
): Promise<void> {
  const events = await selectNewestEvents(db, organizationId, webhookId, { eventTypes, limit })
  const deliveries = events.map((event) => {
    const { contactId, contactEmail, contactFirstName } = event
    const contact = { id: contactId, email: contactEmail, firstName: contactFirstName }
    const body = webhookBody({ ...event, organizationId, contact })
    let atMs = event.occurredAt.getTime()
    const attempts = answersOf(event).map((answer, index): Attempt => {
      atMs += (secondsBetween[index] ?? 0) * 1000 + answer.durationMs
      const result = resultOfStatus(answer.statusCode, defaultRules)
      const timestamp = Math.floor(atMs / 1000)
      const signed = signWebhook({ id: toText('dlv', event.deliveryId), timestamp, body, secrets: [secret] })
      return {
        number: index + 1,
        at: new Date(atMs),
        durationMs: answer.durationMs,
        statusCode: answer.statusCode,
        outcome: result.kind,
        reason: reasonInWords(result),
        signature: signed['X-Service-Signature']!,
        standardSignature: signed['webhook-signature']!,
        responseBody: answer.body,
      }
    })
    return { event, body, attempts, isDelivered: attempts.at(-1)!.statusCode === 200 }
  })
  if (deliveries.length > 0) await db.begin((tx) => insertPastDeliveries(tx, organizationId, webhookId, deliveries))
}
