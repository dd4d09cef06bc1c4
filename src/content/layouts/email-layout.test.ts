import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTokens, type MailIds } from '../../platform/secrets/tokens.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { newId } from '../../platform/values/ids.ts'
import { bodyLimits } from '../flows/budget.ts'
import { compileTemplate } from '../flows/template.ts'
import { imageUrlOf } from '../images/address.ts'
import { encodeText } from '../mime/text-form.ts'
import { EmailLayout } from './email-layout.ts'
import { finishBody, type Way } from './finish-body.ts'

const tokens = createTokens({ current: 'secret' })
const organizationId = newId('org')
const flowId = newId('flw')
const baseUrl = 'https://mail.example.com'
const image = { organizationId, id: newId('img'), secret: Buffer.alloc(16, 7), contentType: 'image/png' } as const
const imageUrl = imageUrlOf('https://old.example.com', image)
const boundary = '=_msg_0'
const limits = bodyLimits()

const signed = () => {
  const ids: MailIds = { organizationId, messageId: newId('msg'), contactId: newId('con'), flowId }
  return tokens.signEmail(ids, false)
}
const wayOf = (choices: Pick<Way, 'isMarketing' | 'tracksClicks' | 'tracksOpens' | 'utmQuery'>): Way => ({
  organizationId,
  baseUrl,
  sign: (link) => tokens.signDestination({ organizationId, flowId }, link),
  ...choices,
})

const whole = fc.constantFrom(
  '<p>Hello {{ a }}</p>\n',
  '<a href="https://x.example/?a=1&amp;b=2">x</a>\n',
  '<a href="https://x.example/{{ a }}" style="color:{{ b }}">{{ b }}</a>\n',
  "<a class='{{ a }}' href='{{ b | raw }}'>y</a>",
  '<area href=https://x.example/ data-waxwing-track="{{ a }}">',
  '<a href="{{ unsubscribe_url }}">Unsubscribe</a>',
  '<a href="https://x.example/?u={{ unsubscribe_url }}">Unsubscribe</a>',
  '<a href="{{ unsubscribe_url | raw }}&amp;x={{ a }}">Unsubscribe</a>',
  '{% if a %}<a href="{{ unsubscribe_url }}">Unsubscribe</a>{% endif %}',
  `<img src="${imageUrl}" alt="{{ a }}">`,
  `<img src="${imageUrl.slice(0, -30)}{{ b }}">`,
  '<img src="{{ image }}" alt="{{ a }}"><td background="{{ image }}">',
  '{% for i in list %}<tr><td><a href="{{ i }}">{{ i }}</a></td></tr>{% endfor %}\n',
  '{% if a %}<p>{{ a }}</p>{% else %}<b>{% endif %}',
  '{{ a | raw }}',
  '{{ b | upcase }} {{ b | newline_to_br }}',
  '<!--[if mso]> <v:rect href="{{ a }}"> {{ b | raw }} <![endif]-->',
  '<style> .a { color: {{ a }} } {{ b | raw }} </style>',
  '</body></html>',
  '<body>\n{{ a }}',
  'From Berlin\n',
  '\n. \n',
  'é{{ a }}\u2028',
  `${'long '.repeat(150)}{{ a }}`,
)
/** What may continue into an output or follow it. */
const broken = fc.constantFrom(
  '<',
  '</',
  '<!',
  '<!--',
  '-->',
  '--',
  '>',
  '"',
  "'",
  '=',
  '<a href=',
  '<a ',
  '<style>',
  '</style',
  '</',
  '<iframe src="{{ a }}">',
  'From',
  '\n',
  '\r',
  '\ue000',
  '{{ a }}',
  '{{ b | raw }}',
  '{% if a %}<{% endif %}',
  '{% break %}',
  '{% assign a = b %}{{ a }}',
)
const html = fc
  .array(fc.oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: broken }), { minLength: 1, maxLength: 8 })
  .map((pieces) => pieces.join(''))
const value = fc.oneof(
  fc.constantFrom('Ada', '', ' Ada ', 'Frank', 'From', 'From here', '.', 'a\nb', 'a\r', 'Zoë', '=_', '\ue000', 7),
  fc.constantFrom('<', '</', '<b>', '<a href="https://y.example/">', '</body>', '<!--', '-->', '--', '>', '"', "'"),
  fc.constantFrom(
    'style>',
    '/style>',
    'a href="https://y.example"',
    imageUrl,
    imageUrl.slice(-30),
    'https://y.example',
  ),
  fc.constantFrom('x'.repeat(1_000), '<a href=https://y.example>y</a>', '<style>', 'javascript:1'),
  fc.string({ unit: 'binary', maxLength: 5 }),
)
const context = fc.record(
  { a: value, b: value, image: fc.constantFrom(imageUrl, ''), list: fc.array(value, { maxLength: 3 }) },
  { requiredKeys: [] },
)
const choices = fc.record({
  isMarketing: fc.boolean(),
  tracksClicks: fc.boolean(),
  tracksOpens: fc.boolean(),
  utmQuery: fc.constantFrom('', 'utm_source=news'),
})

test('an email that is filled into the layout of its version has the bytes of one that is rendered', async () => {
  const counts = { templates: 0, emails: 0, laidOut: 0, filled: 0 }
  await fc.assert(
    fc.asyncProperty(
      html,
      fc.option(html),
      choices,
      fc.array(context, { minLength: 1, maxLength: 4 }),
      async (source, text, chosen, contexts) => {
        const compilation = await compileTemplate({ subject: 'News', source: { format: 'html', text: source }, text })
        if (compilation.kind === 'faulty') return
        const { template } = compilation
        const way = wayOf(chosen)
        const layout = template.outline && EmailLayout.of(template.outline, way)
        counts.templates++
        counts.laidOut += layout ? 1 : 0
        for (const given of contexts) {
          counts.emails++
          const token = signed()
          const values = {
            contact: { email: 'ada@example.com', firstName: 'Ada', lastName: null, attributes: {} },
            organization: { name: 'Engines' },
            unsubscribeUrl: `${baseUrl}/u/${token.unsubscribe}`,
            time: 0,
            context: given,
          }
          const rendered = attempt(() => finishBody(template.renderBody(values, limits), way, token))
          const filled = layout && attempt(() => layout.fill(template.renderOutputs(values, limits), token))
          if (!filled) continue
          counts.filled++
          if (filled === 'refused') expect(rendered).toBe('refused')
          else if (rendered === 'refused') expect.unreachable()
          else {
            expect(String(filled.html)).toBe(rendered.html)
            expect(String(filled.text)).toBe(rendered.text)
            for (const part of ['html', 'text'] as const)
              expect(encodeText(filled[part], boundary)).toEqual(encodeText(rendered[part]!, boundary))
          }
        }
      },
    ),
    { numRuns: 1_500 },
  )
  expect(counts.laidOut / counts.templates).toBeGreaterThan(0.3)
  expect(counts.filled / counts.emails).toBeGreaterThan(0.2)
})

/** `refused`: the template cannot be rendered with these values. */
function attempt<Result>(run: () => Result): Result | 'refused' {
  try {
    return run()
  } catch (error) {
    if (error instanceof Refusal) return 'refused'
    throw error
  }
}

test('outputs with more links than are tracked are not filled in', async () => {
  const compilation = await compileTemplate({
    subject: 'News',
    source: {
      format: 'html',
      text: '<a href="https://x.example/">x</a>{% for i in list %}<a href="{{ i }}">y</a>{% endfor %}',
    },
  })
  if (compilation.kind === 'faulty') return expect.unreachable()
  const { outline, renderOutputs } = compilation.template
  const layout = EmailLayout.of(
    outline!,
    wayOf({ isMarketing: false, tracksClicks: true, tracksOpens: true, utmQuery: '' }),
  )
  const token = signed()
  const fill = (links: number) => {
    const list = Array.from({ length: links }, (_, number) => `https://y.example/${number}`)
    const contact = { email: 'ada@example.com', firstName: null, lastName: null, attributes: {} }
    const values = { contact, organization: { name: '' }, unsubscribeUrl: '', context: { list } }
    return layout?.fill(renderOutputs(values, limits), token)
  }
  expect(fill(99)).toMatchObject({ hasManyLinks: false })
  expect(fill(999)).toMatchObject({ hasManyLinks: true })
  expect(fill(1_000)).toBeUndefined()
})
