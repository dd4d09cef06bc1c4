import { expect, test } from 'vitest'
import { compileMjml } from '../../src/content/flows/mjml.ts'
import { blocks, imageBlock, insertionOf, variableBlock } from '../../web/src/content/flows/insert-blocks.ts'
import { starters } from '../../web/src/content/flows/starters.ts'

const template = `<mjml>
  <mj-head><mj-title>News</mj-title></mj-head>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello there</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`

const image = {
  id: 'img_1',
  name: 'Logo',
  alt_text: 'Say "hi" & {{ bye }}',
  url: 'https://mail.example.com/i/abc.png',
  content_type: 'image/png',
  width: 1_200,
  height: 300,
  frames: 1,
  size_bytes: 1,
  created_at: '',
} as const

const inserted = (
  block: Parameters<typeof insertionOf>[0],
  format: 'mjml' | 'html',
  source: string,
  cursor: number | undefined,
) => {
  const { at, text } = insertionOf(block, format, source, cursor)
  return source.slice(0, at) + text + source.slice(at)
}

test('every block and variable is valid MJML wherever the cursor is', async () => {
  const problems: string[] = []
  // Before the template, in its head, in a text, in a tag, between sections, after it.
  for (const block of [...blocks, imageBlock(image), variableBlock('contact.first_name')])
    for (const place of ['<mjml', 'News', 'there', 'j-column>', '  </mj-body', '\n</mjml>', undefined]) {
      const cursor = place === undefined ? undefined : template.indexOf(place)
      const source = inserted(block, 'mjml', template, cursor)
      const compiled = await compileMjml(source)
      if (typeof compiled !== 'string') problems.push(`${block.label} at ${place}: ${compiled[0]!.message}\n${source}`)
      const lines = source.split('\n').length - template.split('\n').length
      if (lines === 0 && block.level !== 'text')
        problems.push(`${block.label} at ${place} was not inserted on its own line`)
    }
  expect(problems).toEqual([])
})

test('a component is inserted in the column of the cursor, after the component that it is in', () => {
  const [heading] = blocks
  expect(inserted(heading!, 'mjml', template, template.indexOf('there'))).toContain(
    '<mj-text>Hello there</mj-text>\n        <mj-text font-size="24px"',
  )
})

test('a variable is inserted at the cursor, also in an attribute, but not in a tag', () => {
  const html = '<p class="lead">Hello </p>'
  const variable = variableBlock('contact.first_name')
  const at = (cursor: number) => inserted(variable, 'html', html, cursor)
  expect(at(html.indexOf(' </p>') + 1)).toBe('<p class="lead">Hello {{ contact.first_name }}</p>')
  expect(at(html.indexOf('lead'))).toBe('<p class="{{ contact.first_name }}lead">Hello </p>')
  expect(at(1)).toBe('<p class="lead">{{ contact.first_name }}Hello </p>')
})

test('an image has its text and fits into the email, and is not inserted before the body', () => {
  const html = '<html><head></head><body class="x">\n<p>Hi</p>\n</body></html>'
  expect(inserted(imageBlock(image), 'html', html, 0)).toBe(
    '<html><head></head><body class="x">\n<p>Hi</p>\n<img src="https://mail.example.com/i/abc.png" alt="Say &quot;hi&quot; &amp; &#123;&#123; bye }}" width="600" style="display:block;max-width:100%;height:auto">\n</body></html>',
  )
  // The check of the email names it then.
  expect(imageBlock({ ...image, alt_text: '' }).source.mjml).not.toContain('alt=')
  expect(imageBlock({ ...image, alt_text: '' }).source.html).not.toContain('alt=')
})

test('a variable goes into the nearest text, and without a cursor everything goes above the footer', () => {
  const starter = starters.find(({ id }) => id === 'newsletter')!.flow.html
  const variable = variableBlock('contact.first_name')
  const afterSection = starter.indexOf('</mj-section>', starter.indexOf('card')) + '</mj-section>'.length
  const quote = blocks.find(({ label }) => label === 'Quote')!
  for (const cursor of [afterSection, undefined]) {
    const withVariable = inserted(variable, 'mjml', starter, cursor)
    expect(withVariable).toMatch(/<mj-text[^>]*>(?:(?!<\/mj-text>)[\s\S])*\{\{ contact\.first_name \}\}\s*<\/mj-text>/)
    expect(withVariable.indexOf('{{ contact.first_name }}')).toBeLessThan(starter.indexOf('unsubscribe_url'))
    const withQuote = inserted(quote, 'mjml', starter, cursor)
    expect(withQuote.indexOf('A sentence')).toBeLessThan(withQuote.indexOf('unsubscribe_url'))
  }
  // In the white card, which is the last section before the footer.
  const withQuote = inserted(quote, 'mjml', starter, undefined)
  expect(withQuote.lastIndexOf('css-class="card"', withQuote.indexOf('A sentence'))).toBeGreaterThan(
    withQuote.lastIndexOf('</mj-section>', withQuote.indexOf('A sentence')),
  )
})
