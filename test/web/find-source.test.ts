import { expect, test } from 'vitest'
import { findAttribute, findText, placeOf, replaced, textRuns } from '../../web/src/content/flows/find-source.ts'
import { starters } from '../../web/src/content/flows/starters.ts'

const html = `<html><head><title>Hello</title><style>p { color: red }</style></head><body>
<p title="Hello">Hello {{ contact.first_name | default: "<there>" }}, welcome</p>
<!-- Hello -->
<p>Terms &amp; conditions</p><p>Hello</p>
{% if vip %}<a href="https://a.example/x?a=1&amp;b=2">Read more</a>{% endif %}
<a href="https://a.example/c/{{ contact.id }}?s=1">Read   more</a><img src="{{ logo }}"><img src='/i/2.png'>
</body></html>`

const at = (range: { from: number; to: number } | undefined) => range && html.slice(range.from, range.to)

test('texts of the preview are found in the template, without attributes, comments, styles and Liquid', () => {
  expect(textRuns(html).map(({ text }) => text)).toEqual([
    'Hello',
    ', welcome',
    'Terms & conditions',
    'Hello',
    'Read more',
    'Read more',
  ])
  expect(findText(html, { text: 'Hello', nth: 1 })!.from).toBe(html.lastIndexOf('Hello'))
  expect(at(findText(html, { text: 'Terms & conditions', nth: 0 }))).toBe('Terms &amp; conditions')
  // Rendered with a value, and repeated by a loop.
  expect(at(findText(html, { text: 'Hello Ada, welcome', nth: 0 }))).toBe(', welcome')
  expect(at(findText(html, { text: 'Read more', nth: 7 }))).toBe('Read   more')
  expect(findText(html, { text: 'Ada', nth: 0 })).toBeUndefined()
})

test('links and images are found by their address, also with variables', () => {
  expect(at(findAttribute(html, 'href', { text: 'https://a.example/x?a=1&b=2', nth: 0 }))).toContain('a=1&amp;b=2')
  expect(at(findAttribute(html, 'href', { text: 'https://a.example/c/con_1?s=1', nth: 0 }))).toContain('contact.id')
  expect(at(findAttribute(html, 'src', { text: '/i/2.png', nth: 0 }))).toBe('/i/2.png')
  expect(findAttribute(html, 'src', { text: 'https://cdn.example/logo.png', nth: 0 })).toBeUndefined()
  expect(findAttribute(html, 'href', { text: 'https://b.example/', nth: 0 })).toBeUndefined()
})

test('the words of every starter are found and can be replaced', () => {
  for (const { id, flow } of starters)
    for (const run of textRuns(flow.html)) {
      const range = findText(flow.html, { text: run.text, nth: 0 })
      expect(range, `${id}: ${run.text}`).toBeDefined()
      const changed = replaced(flow.html, range!, 'Other words')
      expect(changed).toHaveLength(flow.html.length - (range!.to - range!.from) + 'Other words'.length)
    }
  expect(placeOf('a\nbc', 3)).toEqual({ line: 2, column: 2 })
})
