import type { FlowInput } from '../flows/flows.ts'

export const firstNames = [
  'Ada',
  'Grace',
  'Alan',
  'Edsger',
  'Barbara',
  'Donald',
  'Radia',
  'Margaret',
  'Ken',
  'Frances',
  'Katherine',
  'Linus',
]
export const lastNames = [
  'Lovelace',
  'Hopper',
  'Turing',
  'Dijkstra',
  'Liskov',
  'Knuth',
  'Perlman',
  'Hamilton',
  'Thompson',
  'Allen',
  'Johnson',
]

export const groupNames = ['Customers', 'Newsletter', 'Trial']

/** A flow, and the subject, context and link of its nth message. */
export type DemoFlow = {
  flow: Pick<FlowInput, 'name' | 'kind' | 'subject' | 'html'>
  messageOf: (n: number) => { subject: string; context: object }
  url: string
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

const orderOf = (n: number) => ({
  order_id: `A-${1000 + (n % 9000)}`,
  total: `${20 + (n % 180)}.90 €`,
})

/** The first flows send the most emails. */
export const demoFlows: DemoFlow[] = [
  {
    flow: {
      name: 'Order shipped',
      kind: 'transactional',
      subject: 'Your order {{ order_id }} is on its way',
      html: page(
        'Your order is on its way',
        'Your order {{ order_id }} ({{ total }}) has left our warehouse and will arrive within three days.',
        'Track your order',
        'https://shop.example/orders/{{ order_id }}',
      ),
    },
    messageOf: (n) => ({ subject: `Your order ${orderOf(n).order_id} is on its way`, context: orderOf(n) }),
    url: 'https://shop.example/orders/A-1001',
  },
  {
    flow: {
      name: 'Order confirmation',
      kind: 'transactional',
      subject: 'We received your order {{ order_id }}',
      html: page(
        'Thank you for your order',
        'We received your order {{ order_id }} for {{ total }} and will send it soon.',
        'View your order',
        'https://shop.example/orders/{{ order_id }}',
      ),
    },
    messageOf: (n) => ({ subject: `We received your order ${orderOf(n).order_id}`, context: orderOf(n) }),
    url: 'https://shop.example/orders/A-1001',
  },
  {
    flow: {
      name: 'Weekly digest',
      kind: 'marketing',
      subject: 'New in the shop this week',
      html: page('New in the shop', 'Here is what arrived this week.', 'Look around', 'https://shop.example/new'),
    },
    messageOf: () => ({ subject: 'New in the shop this week', context: {} }),
    url: 'https://shop.example/new',
  },
  {
    flow: {
      name: 'Welcome',
      kind: 'transactional',
      subject: 'Welcome to the shop',
      html: page('Welcome', 'Your account is ready.', 'Open your account', 'https://shop.example/account'),
    },
    messageOf: () => ({ subject: 'Welcome to the shop', context: {} }),
    url: 'https://shop.example/account',
  },
  {
    flow: {
      name: 'Password reset',
      kind: 'transactional',
      subject: 'Reset your password',
      html: page(
        'Reset your password',
        'You asked for a new password. The link is valid for 30 minutes.',
        'Choose a new password',
        'https://shop.example/reset',
      ),
    },
    messageOf: () => ({ subject: 'Reset your password', context: {} }),
    url: 'https://shop.example/reset',
  },
]
