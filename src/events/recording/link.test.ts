import { expect, test } from 'vitest'
import { linkOf } from './link.ts'

test.for([
  ['https://shop.example/sale', 'https://shop.example/sale'],
  ['https://SHOP.example', 'https://shop.example/'],
  ['https://shop.example/sale#top', 'https://shop.example/sale'],
  ['https://shop.example/p/1042?id=5&utm_source=mail', 'https://shop.example/p/1042?id=5&utm_source=mail'],
  ['https://shop.example/black-friday-2026-best-deals', 'https://shop.example/black-friday-2026-best-deals'],
  ['https://shop.example/iphone15promax', 'https://shop.example/iphone15promax'],
  ['https://ada:secret@shop.example/', 'https://shop.example/'],
])('%s is counted as %s', ([url, link]) => {
  expect(linkOf(url!)).toBe(link)
})

test.for([
  ['https://app.example/reset?token=9f8a7d6e5c4b3a2f1e0d', 'https://app.example/reset?token=…'],
  ['https://app.example/u/0190163d-8694-739b-aea5-966c26f8ad91/x', 'https://app.example/u/…/x'],
  ['https://app.example/?email=ada%40example.com&lang=en', 'https://app.example/?email=…&lang=en'],
  ['https://app.example/o/123456789', 'https://app.example/o/…'],
  ['https://app.example/v?eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc', 'https://app.example/v?…'],
])('%s keeps no personal part', ([url, link]) => {
  expect(linkOf(url!)).toBe(link)
})

test('long links are cut, and other text is no link', () => {
  expect(linkOf(`https://shop.example/${'long-'.repeat(200)}`)).toHaveLength(500)
  expect(linkOf('no link')).toBeNull()
})
