import { baseUrl } from '../../api/base.ts'
import type { FlowText } from '../../api/types.ts'
import { utmQuery } from './utm.ts'

const fields = [
  'name',
  'kind',
  'subject',
  'html',
  'html_format',
  'text',
  'from_name',
  'from_email',
  'reply_to',
  'preheader',
  'utm',
] as const satisfies (keyof FlowText)[]

export const draftOf = (flow: FlowText): FlowText =>
  Object.fromEntries(fields.map((field) => [field, flow[field]])) as unknown as FlowText

const sameField = (field: keyof FlowText, a: FlowText, b: FlowText) =>
  field === 'utm' ? utmQuery(a.utm) === utmQuery(b.utm) : (a[field] ?? '') === (b[field] ?? '')

export const sameDraft = (a: FlowText, b: FlowText) => fields.every((field) => sameField(field, a, b))

/** The fields in which `draft` differs from `base`. */
export const changesOf = (draft: FlowText, base: FlowText): Partial<FlowText> =>
  Object.fromEntries(fields.filter((field) => !sameField(field, draft, base)).map((field) => [field, draft[field]]))

/** The changes that turned `base` into `draft`, made to `next` instead. */
export const rebase = (draft: FlowText, base: FlowText, next: FlowText): FlowText => ({
  ...next,
  ...changesOf(draft, base),
})

/** Whether the flow has another sender than the default. */
export const hasSender = ({ from_name, from_email, reply_to }: FlowText) => Boolean(from_name || from_email || reply_to)

/** A draft that can be saved unchanged and shows what a template can do. */
export const newDraft = (): FlowText => ({
  name: '',
  kind: 'transactional',
  subject: 'Your order {{ order_id }}',
  html: starterHtml,
  html_format: 'html',
  text: null,
  from_name: null,
  from_email: null,
  reply_to: null,
  preheader: null,
  utm: null,
})

const starterHtml = `<!doctype html>
<html lang="en">
  <body style="margin:0;padding:32px 16px;background:#f2f4f7;font-family:system-ui,sans-serif;color:#18202c">
    <div style="max-width:560px;margin:0 auto;padding:32px;background:#fff;border-radius:8px">
      <h1 style="margin:0 0 16px;font-size:22px">Hello {{ contact.first_name | default: "there" }}</h1>
      <p style="line-height:1.6">Your order <strong>{{ order_id }}</strong> is on its way.</p>
      <p style="margin:24px 0 0">
        <a href="https://example.com/orders/{{ order_id }}"
           style="padding:12px 20px;background:#1f5fa3;color:#fff;border-radius:6px;text-decoration:none">
          View your order
        </a>
      </p>
    </div>
  </body>
</html>
`

/** The first test email. Its link leads to the API reference of this installation. */
export const welcomeDraft = (): FlowText => ({
  ...newDraft(),
  name: 'Welcome',
  subject: 'Welcome to Waxwing',
  html: starterHtml
    .replace('Hello {{ contact.first_name | default: "there" }}', 'Hello')
    .replace('Your order <strong>{{ order_id }}</strong> is on its way.', 'This is your first email.')
    .replace('https://example.com/orders/{{ order_id }}', `${baseUrl}/docs`)
    .replace('View your order', 'Read the API reference'),
})
