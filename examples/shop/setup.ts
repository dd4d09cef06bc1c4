/**
 * Prepares Waxwing for the shop: an API key, a group, two flows and a webhook. Prints the settings of the shop. Run it once; existing
 * flows, groups and webhooks with the same name are used again or replaced.
 */
import { WaxwingManagement } from '@waxwing/sdk'

const baseUrl = process.env.WAXWING_URL ?? 'http://localhost:3000'
const shopUrl = process.env.SHOP_URL ?? 'http://localhost:4000'

const { token } = await new WaxwingManagement({ baseUrl }).login({
  email: process.env.WAXWING_EMAIL ?? '',
  password: process.env.WAXWING_PASSWORD ?? '',
})
const waxwing = new WaxwingManagement({ baseUrl, token })

async function ensureFlow(name: string, subject: string, html: string): Promise<string> {
  const { data } = await waxwing.listFlows({ query: name })
  const existing = data.find((flow) => flow.name === name)
  if (existing) return (await waxwing.updateFlow(existing.id, { subject, html })).id
  return (await waxwing.createFlow({ name, kind: 'transactional', subject, html })).id
}

async function ensureGroup(name: string): Promise<string> {
  const existing = (await waxwing.listGroups()).data.find((group) => group.name === name)
  return existing?.id ?? (await waxwing.createGroup({ name })).id
}

/** The secret of a webhook is shown only once, so an existing one gets a new secret. */
async function ensureWebhook(name: string, url: string): Promise<string> {
  const existing = (await waxwing.listWebhooks()).find((webhook) => webhook.name === name)
  if (existing) return (await waxwing.rotateWebhookSecret(existing.id, { overlap_hours: 0 })).signing_secret
  return (await waxwing.createWebhook({ name, url, all_events: true })).signing_secret
}

const link = `${shopUrl}/orders/{{ order_id }}`
const settings = {
  WAXWING_API_KEY: (await waxwing.createApiKey({ name: 'Shop' })).api_key,
  WAXWING_GROUP_ID: await ensureGroup('Shop customers'),
  WAXWING_CONFIRMED_FLOW_ID: await ensureFlow(
    'Shop: order confirmed',
    'We received your order {{ order_id }}',
    `<p>Thank you for ordering {{ item }}. <a href="${link}">See your order</a>.</p>`,
  ),
  WAXWING_SHIPPED_FLOW_ID: await ensureFlow(
    'Shop: order shipped',
    'Your order {{ order_id }} is on its way',
    `<p>{{ item }} left our house. <a href="${link}">See your order</a>.</p>`,
  ),
  WAXWING_SECRET: await ensureWebhook('Shop', `${shopUrl}/webhooks`),
}
for (const [name, value] of Object.entries(settings)) console.log(`${name}=${value}`)
