import { expect, test } from 'vitest'
import { withUnsubscribeLine } from './unsubscribe-line.ts'

const url = 'https://mail.example.com/u/abc'

test('an unsubscribe link is appended to the body and the text if missing', () => {
  const { html, text } = withUnsubscribeLine({ html: '<body><p>Hi</p></body></html>', text: 'Hi\n\n' }, url)
  expect(html).toMatch(
    /^<body><p>Hi<\/p><p [^>]*><a href="https:\/\/mail.example.com\/u\/abc" [^>]*>Unsubscribe<\/a><\/p><\/body><\/html>$/,
  )
  expect(text).toBe(`Hi\n\n--\nUnsubscribe: ${url}\n`)
})

test('a part that contains the URL stays unchanged', () => {
  const mail = { html: `<a href="${url}">Leave</a>`, text: 'Hi' }
  const { html, text } = withUnsubscribeLine(mail, url)
  expect(html).toBe(mail.html)
  expect(text).toContain(url)
  expect(withUnsubscribeLine({ html: '<p>', text: `Leave: ${url}` }, url).text).toBe(`Leave: ${url}`)
})

test('a comment that ends a body does not hide the line', () => {
  const { html } = withUnsubscribeLine({ html: '<body>a<!-- </body> -->b</body>', text: '' }, url)
  expect(html).toMatch(/^<body>a<!-- <\/body> -->b<p .*<\/p><\/body>$/)
})
