import { expect, test } from 'vitest'
import { withUnsubscribeLine } from './unsubscribe-line.ts'

const url = 'https://mail.example.com/u/abc'

test('a mail that shows no way out gets one, at the end of its body and of its text', () => {
  const { html, text } = withUnsubscribeLine({ html: '<body><p>Hi</p></body></html>', text: 'Hi\n\n' }, url)
  expect(html).toMatch(
    /^<body><p>Hi<\/p><p [^>]*><a href="https:\/\/mail.example.com\/u\/abc" [^>]*>Unsubscribe<\/a><\/p><\/body><\/html>$/,
  )
  expect(text).toBe(`Hi\n\n--\nUnsubscribe: ${url}\n`)
})

test('a part that shows the address already stays as it is', () => {
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
