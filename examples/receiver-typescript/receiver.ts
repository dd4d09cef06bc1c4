/** Receives webhooks: verifies each delivery, answers at once, and handles each event once. */
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '@waxwing/sdk'

const port = Number(process.env.PORT ?? 8080)
const secret = process.env.WAXWING_SECRET
if (!secret) throw new Error('Set WAXWING_SECRET to the signing secret of the webhook.')

// Remembers the last deliveries. If several processes receive webhooks, keep the ids in a database instead.
const rememberedMax = 10_000
const remembered = new Set<string>()

createServer(async (request, response) => {
  try {
    const event = verifyWebhook(await buffer(request), request.headers, secret)
    // Acknowledge first: after ten seconds Waxwing would try again. Slow work belongs into a queue.
    response.writeHead(200).end()
    if (isNew(String(request.headers['webhook-id']))) handle(event)
  } catch (error) {
    // Always answer: an uncaught error, for example of a sender that disconnects, would end the process.
    const isForged = error instanceof WebhookVerificationError
    console.error(isForged ? `Rejected: ${error.reason}` : error)
    if (!response.headersSent) response.writeHead(isForged ? 400 : 500)
    response.end()
  }
}).listen(port, () => console.log(`Waiting for webhooks on port ${port}`))

function isNew(deliveryId: string): boolean {
  if (remembered.has(deliveryId)) return false
  remembered.add(deliveryId)
  const [oldest] = remembered
  if (remembered.size > rememberedMax && oldest) remembered.delete(oldest)
  return true
}

function handle(event: WebhookEvent): void {
  switch (event.event_name) {
    case 'emailClick':
      console.log(`${event.data.contact.email} clicked ${event.data.url}`)
      break
    case 'emailHardBounce':
    case 'emailSoftBounce':
      console.log(`${event.data.contact.email} bounced: ${event.data.bounce.reason}`)
      break
    default:
      // New events may be added: acknowledge those you do not know.
      console.log(`${event.event_name} for ${event.data.contact?.email ?? 'no contact'}`)
  }
}
