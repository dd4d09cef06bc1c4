import type { FlowInput } from '../flows/flows.ts'

export const firstNames = 'Ada Grace Alan Edsger Barbara Donald Radia Margaret Ken Frances Katherine Linus'.split(' ')
export const lastNames = 'Lovelace Hopper Turing Dijkstra Liskov Knuth Perlman Hamilton Thompson Allen Johnson'.split(
  ' ',
)

export const groupNames = ['Customers', 'Newsletter', 'Trial'] as const

/** A flow, and the subject, the context and the clicked link of its nth message. */
export type DemoFlow = {
  flow: Pick<FlowInput, 'name' | 'kind' | 'subject' | 'html'>
  messageOf: (n: number) => { subject: string; context: object; url: string }
}

const page = (
  heading: string,
  text: string,
  button: string,
  url: string,
) => `<div style="max-width: 560px; margin: 0 auto; padding: 24px; font-family: system-ui, sans-serif; line-height: 1.5">
  <h1 style="font-size: 22px">${heading}</h1>
  <p>Hello {{ contact.first_name | default: "there" }},</p>
  <p>${text}</p>
  <p><a href="${url}" style="display: inline-block; padding: 10px 16px; border-radius: 6px; background: #1c4ed8; color: #ffffff; text-decoration: none">${button}</a></p>
</div>
`

type Content = { text: string; button: string; url: string }

/** A flow without variables. Its heading is its subject. */
const plain = (
  kind: 'marketing' | 'transactional',
  name: string,
  subject: string,
  { text, button, url }: Content,
): DemoFlow => ({
  flow: { name, kind, subject, html: page(subject, text, button, url) },
  messageOf: () => ({ subject, context: {}, url }),
})

const orderUrl = 'https://shop.example/orders/{{ order_id }}'

/** A flow about an order. */
const aboutOrder = (name: string, subject: string, heading: string, text: string, button: string): DemoFlow => ({
  flow: { name, kind: 'transactional', subject, html: page(heading, text, button, orderUrl) },
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
    url: 'https://shop.example/new',
  }),
  plain('transactional', 'Welcome', 'Welcome to the shop', {
    text: 'Your account is ready.',
    button: 'Open your account',
    url: 'https://shop.example/account',
  }),
  plain('transactional', 'Password reset', 'Reset your password', {
    text: 'You asked for a new password. The link is valid for 30 minutes.',
    button: 'Choose a new password',
    url: 'https://shop.example/reset',
  }),
]

/** Sent as broadcasts. */
export const broadcastFlows = {
  arrivals: plain('marketing', 'New arrivals', 'New arrivals for cold evenings', {
    text: 'Blankets, lamps and teapots: see what arrived this month.',
    button: 'See what is new',
    url: 'https://shop.example/arrivals',
  }),
  loyalty: plain('marketing', 'Loyalty program', 'Meet our loyalty program', {
    text: 'Collect a point with every order. Ten points are worth free shipping.',
    button: 'Join for free',
    url: 'https://shop.example/loyalty',
  }),
}

/** The second subject of the test reaches more people. */
export const loyaltyVariants = [
  { subject: null, flow_version: null, share: 50, openRate: 0.4 },
  {
    subject: '{{ contact.first_name | default: "Hello" }}, your next order ships free',
    flow_version: null,
    share: 50,
    openRate: 0.68,
  },
]

/** The rows of the import that were rejected, after the given number of rows that were not. */
export const importHeader = ['email', 'first_name', 'last_name']
export const rejectedRows: { after: number; cells: string[] }[] = [
  { after: 6, cells: ['grace.hopper@', 'Grace', 'Hopper'] },
  { after: 17, cells: ['alan turing@example.com', 'Alan', 'Turing'] },
  { after: 30, cells: ['ada@localnet', 'Ada', 'Lovelace'] },
]
