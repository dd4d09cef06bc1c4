import type { FlowInput } from '../../content/content.ts'

/**
 * A host that does not exist: `.alt` is reserved (RFC 9476). Unlike the names for documentation, the checks before sending do
 * not report it as a test address.
 */
export const shopUrl = 'https://corner-shop.alt'

/** Their numbers have no common divisor, so that all pairs of them are different people. */
export const firstNames = [
  ...['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia', 'Margaret', 'Ken', 'Frances'],
  ...['Katherine', 'Linus', 'Dorothy', 'Claude', 'Annie', 'Niklaus', 'Joan', 'Leslie', 'Mary', 'Tony'],
]
export const lastNames = [
  ...['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Perlman', 'Hamilton', 'Thompson', 'Allen'],
  ...['Johnson', 'Vaughan', 'Shannon', 'Easley', 'Wirth', 'Clarke', 'Lamport', 'Jackson', 'Hoare', 'Noether', 'Curie'],
]

export const groupNames = ['Customers', 'Newsletter', 'Trial'] as const

/** A flow, and the subject, the context and the clicked link of its nth message. */
export type DemoFlow = {
  flow: Pick<FlowInput, 'name' | 'kind' | 'subject' | 'html' | 'preheader'>
  messageOf: (n: number) => { subject: string; context: object; url: string }
}

type Page = { heading: string; text: string; button: string; url: string; picture?: string }

const page = ({ heading, text, button, url, picture }: Page) =>
  `<div style="padding: 24px 12px; background: {{ brand.background_color }}; font-family: {{ brand.font }}; line-height: 1.5; color: #1d2530">
  <p style="max-width: 560px; margin: 0 auto 16px; text-align: center"><img src="{{ brand.logo_url }}" alt="{{ brand.name }}" width="48" height="48"></p>
  <div style="max-width: 560px; margin: 0 auto; padding: 24px; border-radius: 8px; background: #ffffff">
${picture ? `    <img src="${picture}" alt="The sun above the hills at dusk" width="560" style="width: 100%; height: auto; border-radius: 6px">\n` : ''}    <h1 style="font-size: 22px">${heading}</h1>
    <p>Hello {{ contact.first_name | default: "there" }},</p>
    <p>${text}</p>
    <p><a href="${url}" style="display: inline-block; padding: 10px 16px; border-radius: 6px; background: {{ brand.color }}; color: {{ brand.text_on_color }}; text-decoration: none">${button}</a></p>
  </div>
  <p style="max-width: 560px; margin: 16px auto 0; text-align: center; font-size: 13px; color: #667085">{{ brand.name }}<br>{{ brand.address }}</p>
</div>
`

type Content = Omit<Page, 'heading'>

/** A flow without variables. Its heading is its subject. */
const plain = (kind: 'marketing' | 'transactional', name: string, subject: string, content: Content): DemoFlow => ({
  flow: { name, kind, subject, html: page({ heading: subject, ...content }), preheader: content.text },
  messageOf: () => ({ subject, context: {}, url: content.url }),
})

const orderUrl = `${shopUrl}/orders/{{ order_id }}`

/** A flow about an order. */
const aboutOrder = (name: string, subject: string, heading: string, text: string, button: string): DemoFlow => ({
  flow: {
    name,
    kind: 'transactional',
    subject,
    html: page({ heading, text, button, url: orderUrl }),
    preheader: null,
  },
  messageOf: (n) => {
    const context = { order_id: `A-${1000 + (n % 9000)}`, total: `${20 + (n % 180)}.90 €` }
    const render = (template: string) => template.replace('{{ order_id }}', context.order_id)
    return { subject: render(subject), context, url: render(orderUrl) }
  },
})

/** Sent through the API. The first flows send the most emails. */
export const demoFlows: DemoFlow[] = [
  aboutOrder(
    'Order shipped',
    'Your order {{ order_id }} is on its way',
    'Your order is on its way',
    'Your order {{ order_id }} ({{ total }}) has left our warehouse and will arrive within three days.',
    'Track your order',
  ),
  aboutOrder(
    'Order confirmation',
    'We received your order {{ order_id }}',
    'Thank you for your order',
    'We received your order {{ order_id }} for {{ total }} and will send it soon.',
    'View your order',
  ),
  plain('marketing', 'Weekly digest', 'New in the shop this week', {
    text: 'Here is what arrived this week.',
    button: 'Look around',
    url: `${shopUrl}/new`,
  }),
  plain('transactional', 'Welcome', 'Welcome to the shop', {
    text: 'Your account is ready.',
    button: 'Open your account',
    url: `${shopUrl}/account`,
  }),
  plain('transactional', 'Password reset', 'Reset your password', {
    text: 'You asked for a new password. The link is valid for 30 minutes.',
    button: 'Choose a new password',
    url: `${shopUrl}/reset`,
  }),
]

/** Sent as broadcasts. */
export const broadcastFlows = (picture: string) => ({
  arrivals: plain('marketing', 'New arrivals', 'New arrivals for cold evenings', {
    text: 'Blankets, lamps and teapots: see what arrived this month.',
    button: 'See what is new',
    url: `${shopUrl}/arrivals`,
    picture,
  }),
  loyalty: plain('marketing', 'Loyalty program', 'Meet our loyalty program', {
    text: 'Collect a point with every order. Ten points are worth free shipping.',
    button: 'Join for free',
    url: `${shopUrl}/loyalty`,
  }),
})

/** A draft in which the checks before sending find something. */
export const draftFlow = (picture: string): DemoFlow['flow'] => ({
  name: 'Garden weekend',
  kind: 'marketing',
  subject: 'This weekend everything for the garden is half price, in the shop and online',
  preheader: 'Pots, seeds and tools, until Sunday.',
  html: `<div style="max-width: 560px; margin: 0 auto; padding: 24px; font-family: {{ brand.font }}; line-height: 1.5; color: #1d2530">
  <img src="${picture}" width="560" style="width: 100%; height: auto; border-radius: 6px">
  <h1 style="font-size: 22px">The garden weekend</h1>
  <p>Hello {{ contact.first_name | default: "there" }},</p>
  <p>pots, seeds and tools cost half as much until Sunday.</p>
  <p><a href="https://www.example.com/garden" style="color: {{ brand.color }}">See the offers</a></p>
</div>
`,
})

/** The second subject of the test reaches more people. */
export const loyaltyVariants = [
  { subject: null, flow_version: null, share: 50, openRate: 0.26 },
  {
    subject: '{{ contact.first_name | default: "Hello" }}, your next order ships free',
    flow_version: null,
    share: 50,
    openRate: 0.66,
  },
]

/** The rows of the import that were rejected, after the given number of rows that were not. */
export const importHeader = ['email', 'first_name', 'last_name']
export const rejectedRows: { after: number; cells: string[] }[] = [
  { after: 6, cells: ['grace.hopper@', 'Grace', 'Hopper'] },
  { after: 17, cells: ['alan turing@example.com', 'Alan', 'Turing'] },
  { after: 30, cells: ['ada@localnet', 'Ada', 'Lovelace'] },
]
