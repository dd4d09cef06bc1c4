import fc from 'fast-check'
import PostalMime from 'postal-mime'
import { expect, test } from 'vitest'
import { compileTemplate } from '../../content/flows/template.ts'
import { trackLinks } from '../../content/flows/track-links.ts'
import { withUnsubscribeLine } from '../../content/flows/unsubscribe-line.ts'
import type { TemplateValues } from '../../content/flows/values.ts'
import { missingVariables, unusedContextKeys } from '../../content/flows/variables.ts'
import { compose } from '../../content/mime/compose.ts'
import { createTokens, type MailIds } from '../../platform/secrets/tokens.ts'
import { Refusal } from '../../platform/values/errors.ts'
import { newId } from '../../platform/values/ids.ts'

const tokens = createTokens({ current: 'secret' })
const ids: MailIds = {
  organizationId: newId('org'),
  messageId: newId('msg'),
  contactId: newId('con'),
  flowId: newId('flw'),
}
const base = 'https://mail.example.com'

const text = fc.string({ unit: 'binary', maxLength: 20 })
const oneOf = (lines: string) => fc.constantFrom(...lines.trim().split(/\s*\n\s*|\s{2,}/))
/** Mostly something sensible, now and then anything at all. */
const mostly = (sensible: fc.Arbitrary<string>) => fc.oneof({ weight: 15, arbitrary: sensible }, text)

const expression = mostly(
  oneOf(`first_name  contact  context  a  a.b  a[0]  a["x"]  "x"  1  (1..3)  (a..b)  nil  empty  [a]  a.size
    a == b
    a contains "x"`),
)
const filter = mostly(
  oneOf(`upcase  escape  raw  json  size  sort  url_encode  url_decode  first  base64_decode  newline_to_br
    default: "x"
    join: ","
    split: ""
    where: "x", 1
    date: "%Y"
    times: a
    append: a
    slice: 1, 2
    group_by: "x"
    truncate: 3
    round: 99
    map: "x"
    push: a`),
)
const markup = oneOf(`</a>  <body>  </body>  <style>  </style>  <!--  -->  <p>  "  '  <  >
    <a href="https://x.example/?a=1&amp;b=2">
    <a href="{{ a }}">`)
const tag = oneOf(`{% cycle "a", b %}
    {% increment a %}
    {% raw %}{{ x }}{% endraw %}
    {% comment %}x{% endcomment %}
    {% case a %}{% when 1 %}x{% endcase %}
    {% tablerow i in a %}{{ i }}{% endtablerow %}
    {% liquid echo a %}
    {% break %}`)
const piece = mostly(
  fc.oneof(
    markup,
    tag,
    fc.tuple(expression, fc.array(filter, { maxLength: 3 })).map((parts) => `{{ ${parts.flat().join(' | ')} }}`),
    expression.map((list) => `{% for i in ${list} %}{{ i }}{% endfor %}`),
    expression.map((condition) => `{% if ${condition} %}y{% else %}n{% endif %}`),
    expression.map((value) => `{% assign a = ${value} %}{% capture c %}<b>{{ a }}{% endcapture %}{{ c }}`),
  ),
)
const source = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
const context = fc.dictionary(
  fc.oneof(fc.constantFrom('a', 'b', 'first_name', 'toString', '__proto__', 'contact'), text),
  fc.jsonValue({ maxDepth: 4 }),
  { maxKeys: 5 },
)

test('any template, values and addresses yield a well-formed email or a rejection', async () => {
  let sent = 0
  await fc.assert(
    fc.asyncProperty(
      source,
      source,
      fc.option(source),
      context,
      fc.oneof(fc.emailAddress(), text),
      async (subject, html, plain, given, email) => {
        const compilation = await compileTemplate({ subject, source: { format: 'html', text: html }, text: plain })
        if (compilation.kind === 'faulty') {
          expect(compilation.problems.length).toBeGreaterThan(0)
          return
        }
        const { template } = compilation
        const unsubscribeUrl = `${base}/u/${tokens.sign('unsubscribe_link', ids)}`
        const values: TemplateValues = {
          contact: { email, firstName: null, lastName: 'L', attributes: given },
          organization: { name: 'Engines' },
          unsubscribeUrl,
          context: JSON.parse(JSON.stringify(given)),
        }
        expect(missingVariables(template, values)).toBeInstanceOf(Array)
        expect(unusedContextKeys(template, values.context)).toBeInstanceOf(Array)
        try {
          const rendered = withUnsubscribeLine(template.render(values), unsubscribeUrl)
          const tracked = trackLinks(rendered.html, {
            trackedUrl: (url) => `${base}/t/c/${tokens.sign('email', ids)}/${tokens.signDestination(ids, { url })}`,
            pixelUrl: `${base}/t/o/${tokens.sign('email', ids)}`,
            unsubscribeUrl,
          })
          const { raw } = compose({
            id: ids.messageId,
            domain: 'mail.example.com',
            from: { email: 'hello@example.com' },
            to: { email, name: String(given.first_name) },
            subject: rendered.subject,
            html: tracked,
            text: rendered.text,
            date: new Date(0),
            unsubscribe: { url: unsubscribeUrl },
          })
          // It is passed to mail servers as it is.
          expect(raw).toMatch(/^[\0-\x7f]*\r\n$/)
          expect(raw).not.toMatch(/(?<!\r)\n|\r(?!\n)|(?<![^\n])\./)
          const parsed = await PostalMime.parse(Buffer.from(raw, 'latin1'))
          expect(parsed.html?.replace(/\n$/, '')).toBe(Buffer.from(tracked).toString().replace(/\r\n?/g, '\n'))
          expect(parsed.html).toContain(unsubscribeUrl)
          expect(parsed.text).toContain(unsubscribeUrl)
          sent++
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
        }
      },
    ),
    { numRuns: 600 },
  )
  expect(sent).toBeGreaterThan(50)
})
