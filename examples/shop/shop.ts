/** A small shop. It sends an email when an order is placed or shipped, and learns by webhooks what became of it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer, text } from 'node:stream/consumers'
import { verifyWebhook, Waxwing, WaxwingError, type WebhookEvent, WebhookVerificationError } from '@waxwing/sdk'

type Order = { id: string; email: string; item: string; state: 'placed' | 'shipped'; emails: Email[] }
type Email = { messageId: string; status: string }

const setting = (name: string) => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set. Run setup.ts first.`)
  return value
}
const waxwing = new Waxwing({ apiKey: setting('WAXWING_API_KEY'), baseUrl: setting('WAXWING_URL') })
const flows = { placed: setting('WAXWING_CONFIRMED_FLOW_ID'), shipped: setting('WAXWING_SHIPPED_FLOW_ID') }
const groupId = setting('WAXWING_GROUP_ID')
const secret = setting('WAXWING_SECRET')
const port = Number(new URL(setting('SHOP_URL')).port)

// A real shop has a database. It would store the ids of handled deliveries beside the changes they caused.
const orders = new Map<string, Order>()
const handled = new Set<string>()

createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    console.error(error)
    if (!response.headersSent) response.writeHead(500)
    response.end()
  })
}).listen(port, () => console.log(`The shop is open on port ${port}`))

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://shop')
  const [, id, action] = /^\/orders\/([\w-]+)(?:\/(ship))?$/.exec(pathname) ?? []
  const order = id ? orders.get(id) : undefined
  if (request.method === 'POST' && pathname === '/webhooks') return receiveWebhook(request, response)
  if (request.method === 'POST' && pathname === '/orders') return place(await text(request), response)
  if (!order) return sendJson(response, 404, { error: 'No such order' })
  if (request.method === 'POST' && action) {
    order.state = 'shipped'
    await notify(order)
  }
  sendJson(response, 200, order)
}

async function place(body: string, response: ServerResponse): Promise<void> {
  const { id, email, item } = JSON.parse(body) as { id: string; email: string; item: string }
  const order: Order = orders.get(id) ?? { id, email, item, state: 'placed', emails: [] }
  orders.set(id, order)
  await waxwing.addGroupMembers({ groupId, members: [{ email, attributes: { last_item: item } }] })
  await notify(order)
  sendJson(response, 201, order)
}

/** The key names the reason for the email: however often this runs, the customer gets one email for each state. */
async function notify(order: Order): Promise<void> {
  try {
    const { messageId, status } = await waxwing.sendEmailThroughFlow(
      { flowId: flows[order.state], contactEmail: order.email, context: { order_id: order.id, item: order.item } },
      { idempotencyKey: `order-${order.id}-${order.state}` },
    )
    if (!order.emails.some((email) => email.messageId === messageId)) order.emails.push({ messageId, status })
  } catch (error) {
    // The order counts more than its email. A real shop would try again later, with the same key.
    if (!(error instanceof WaxwingError)) throw error
    console.error(`Order ${order.id}: ${error.type}: ${error.message}`)
  }
}

async function receiveWebhook(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let event: WebhookEvent
  try {
    event = verifyWebhook(await buffer(request), request.headers, secret)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return void response.writeHead(400).end(error.reason)
  }
  const deliveryId = String(request.headers['webhook-id'])
  if (!handled.has(deliveryId)) {
    apply(event)
    handled.add(deliveryId)
  }
  response.writeHead(200).end()
}

const statuses: Partial<Record<WebhookEvent['event_name'], string>> = {
  emailSent: 'sent',
  emailOpen: 'opened',
  emailClick: 'clicked',
  emailHardBounce: 'bounced',
}
/** Events may arrive in any order: a status never goes back. */
const order = ['queued', 'suppressed', 'sent', 'opened', 'clicked', 'bounced']

function apply({ event_name: name, data }: WebhookEvent): void {
  const status = statuses[name]
  const emails = [...orders.values()].flatMap((one) => one.emails)
  const email = emails.find(({ messageId }) => messageId === data.message_id)
  if (email && status && order.indexOf(status) > order.indexOf(email.status)) email.status = status
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}
