import type { FlowKind, FlowText } from '../../api/types.ts'
import type { Sample } from './sample-data.ts'
import { button, card, divider, heading, layout, link, quiet, subheading, text } from './starter-layout.ts'

export type Starter = { id: string; title: string; description: string; flow: FlowText; sample: Sample }

type Content = { kind: FlowKind; subject: string; preheader: string; sections: string[]; sample?: Sample }

const hello = 'Hello {{ contact.first_name | default: "there" }},'
const example = 'https://example.com'

function starter(id: string, title: string, description: string, content: Content): Starter {
  const { kind, subject, preheader, sections, sample = {} } = content
  return {
    id,
    title,
    description,
    sample,
    flow: {
      name: title,
      kind,
      subject,
      preheader,
      utm: null,
      html: layout(sections, { isMarketing: kind === 'marketing' }),
      html_format: 'mjml',
      text: null,
      from_name: null,
      from_email: null,
      reply_to: null,
    },
  }
}

const orderRows = `<mj-table>
  {% for item in items %}<tr class="row">
    <td style="padding:8px 0;border-bottom:1px solid #dfe3e8">{{ item.quantity }} × {{ item.name }}</td>
    <td style="padding:8px 0;border-bottom:1px solid #dfe3e8;text-align:right">{{ item.price }}</td>
  </tr>{% endfor %}
  <tr>
    <td style="padding:12px 0;font-weight:700">Total</td>
    <td style="padding:12px 0;font-weight:700;text-align:right">{{ total }}</td>
  </tr>
</mj-table>`
const items = '[{"name":"Assam tea","quantity":2,"price":"$18.00"},{"name":"Teapot","quantity":1,"price":"$39.00"}]'

/** Templates to begin with. They match the brand, even before it is set up. */
export const starters: Starter[] = [
  starter('welcome', 'Welcome', 'After someone signs up', {
    kind: 'transactional',
    subject: 'Welcome to {{ brand.name }}',
    preheader: 'Glad you’re here. Three things to try first.',
    sections: [
      card(
        heading('Welcome to {{ brand.name }}'),
        text(`${hello} thanks for joining us. Here’s how to get started:`),
        text(
          '<ol style="margin:0;padding-left:20px"><li>Complete your profile</li><li>Invite your team</li><li>Create your first project</li></ol>',
        ),
        button('Get started', example),
        quiet('Questions? Just reply to this email.'),
      ),
    ],
  }),
  starter('order', 'Order confirmation', 'What was bought, and what happens next', {
    kind: 'transactional',
    subject: 'Your order {{ order_id }}',
    preheader: 'Thank you. We’ll tell you when it’s on its way.',
    sections: [
      card(
        heading('Thank you for your order'),
        text(`${hello} we’ve received your order <strong>{{ order_id }}</strong> and are getting it ready.`),
        orderRows,
        button('View your order', `${example}/orders/{{ order_id }}`),
      ),
    ],
    sample: { order_id: 'A-1001', items, total: '$57.00' },
  }),
  starter('receipt', 'Receipt', 'Proof of payment', {
    kind: 'transactional',
    subject: 'Receipt {{ receipt_number }} from {{ brand.name }}',
    preheader: 'You paid {{ total }}.',
    sections: [
      card(
        heading('Receipt'),
        text('You paid <strong>{{ total }}</strong> to {{ brand.name }} on {{ paid_on }}.'),
        orderRows,
        quiet('Receipt {{ receipt_number }}. Keep this email for your records.'),
      ),
    ],
    sample: { receipt_number: 'R-2041', paid_on: 'March 3, 2026', items, total: '$57.00' },
  }),
  starter('password-reset', 'Password reset', 'A link to choose a new password', {
    kind: 'transactional',
    subject: 'Reset your password',
    preheader: 'This link expires in one hour.',
    sections: [
      card(
        heading('Reset your password'),
        text(`${hello} someone asked to reset the password for your account. If it was you, choose a new one:`),
        button('Choose a new password', '{{ reset_url }}'),
        quiet('If you didn’t ask for this, you can ignore this email. Your password hasn’t changed.'),
      ),
    ],
    sample: { reset_url: `${example}/reset/abc` },
  }),
  starter('newsletter', 'Newsletter', 'Several stories, sent as a broadcast', {
    kind: 'marketing',
    subject: 'What’s new this month',
    preheader: 'Three stories, two minutes to read.',
    sections: [
      card(
        heading('What’s new this month'),
        text(`${hello} here’s what we’ve been working on.`),
        divider,
        subheading('The first story'),
        text(`Write two or three sentences about it, and link to the rest. ${link('Read more', example)}`),
        divider,
        subheading('The second story'),
        text(`One idea for each story makes them easy to skim. ${link('Read more', example)}`),
        divider,
        subheading('The third story'),
        text(`A tip, an offer, or a word from a customer. ${link('Read more', example)}`),
      ),
    ],
  }),
  starter('announcement', 'Announcement', 'One piece of news with one button', {
    kind: 'marketing',
    subject: 'Something new from {{ brand.name }}',
    preheader: 'See what has changed.',
    sections: [
      card(
        heading('Something new is here'),
        text(`${hello} we’ve built something for you. Say in one sentence what it is, and what it changes.`),
        text('Then give the one detail that matters most.'),
        button('See what’s new', example),
      ),
    ],
  }),
  starter('digest', 'Digest', 'A list that your app sends', {
    kind: 'marketing',
    subject: 'Your week: {{ items.size }} updates',
    preheader: '{{ items.first.title }} and more.',
    sections: [
      card(
        heading('Your week'),
        text(`${hello} here’s what happened since last Monday:`),
        `<mj-table>
  {% for item in items %}<tr class="row">
    <td style="padding:12px 0;border-bottom:1px solid #dfe3e8">${link('{{ item.title }}', '{{ item.url }}')}<br>{{ item.summary }}</td>
  </tr>{% else %}<tr>
    <td style="padding:12px 0">Nothing new this week.</td>
  </tr>{% endfor %}
</mj-table>`,
        button('Open your dashboard', example),
      ),
    ],
    sample: {
      items:
        '[{"title":"Ada commented on your plan","url":"https://example.com/1","summary":"“Looks good to me.”"},{"title":"Two tasks are due","url":"https://example.com/2","summary":"Both on Friday."}]',
    },
  }),
  starter('event', 'Event', 'An invitation with a time and place', {
    kind: 'marketing',
    subject: 'You’re invited: our open house',
    preheader: 'Thursday, March 12, 6 p.m. Save your seat.',
    sections: [
      card(
        heading('You’re invited to our open house'),
        text(`${hello} meet the team, see what we’re working on, and stay for a drink.`),
        `<mj-table>
  <tr><td style="padding:4px 16px 4px 0;width:80px;font-weight:700">When</td><td style="padding:4px 0">Thursday, March 12, 6 p.m.</td></tr>
  <tr><td style="padding:4px 16px 4px 0;width:80px;font-weight:700">Where</td><td style="padding:4px 0">Main Street 1, Vienna</td></tr>
</mj-table>`,
        button('Save your seat', example),
        quiet('Can’t come? Reply to this email, and we’ll send you photos.'),
      ),
    ],
  }),
]
