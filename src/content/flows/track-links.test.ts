import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasManyLinks, linksOfOneTurn, trackLinks } from './track-links.ts'

const unsubscribeUrl = 'https://mail.example.com/u/abc'
const pixel = '<img src="https://t.example/o" width="1" height="1" alt="" style="border:0;width:1px;height:1px">'

function track(html: string): { html: string; urls: string[] } {
  const urls: string[] = []
  const tracked = trackLinks(html, {
    trackedUrl: (url) => `https://t.example/${urls.push(url) - 1}`,
    pixelUrl: 'https://t.example/o',
    unsubscribeUrl,
  })
  return { html: tracked, urls }
}

const destinations = (html: string) => track(html).urls

test('http links of a and area elements are tracked, and the pixel is appended to the body', () => {
  const html =
    '<body><a href="https://example.com/">x</a><map><area shape=rect href=HTTP://example.com/b></map></body></html>'
  expect(track(html)).toEqual({
    html: `<body><a href="https://t.example/0">x</a><map><area shape=rect href="https://t.example/1"></map>${pixel}</body></html>`,
    urls: ['https://example.com/', 'HTTP://example.com/b'],
  })
})

test('an email without a body element ends with the pixel, and the last body element counts', () => {
  expect(track('<p>x</p>').html).toBe(`<p>x</p>${pixel}`)
  expect(track('</body>a</BODY >b').html).toBe(`</body>a${pixel}</BODY >b`)
  expect(track('').html).toBe(pixel)
})

test('other schemes, anchors, relative links, opted-out links and the unsubscribe link stay unchanged', () => {
  const html = `<a href="mailto:a@b.c">1</a><a href="tel:+1">2</a><a href="#top">3</a><a href="/x">4</a><a href="//x.example">5</a>
    <a href="https://x.example" data-waxwing-track="off">6</a><a DATA-WAXWING-TRACK=OFF href='https://x.example'>7</a>
    <a href="${unsubscribeUrl}">8</a><a href="javascript:x">9</a><a name="x">10</a><a href>11</a><a href="">12</a>
    <link href="https://x.example/a.css"><img src="https://x.example/b.png"><abbr href="https://x.example">13</abbr>`
  expect(track(html)).toEqual({ html: html + pixel, urls: [] })
})

test('entities in a link are read as browsers read them', () => {
  const read = (href: string) => destinations(`<a href="${href}">x</a>`)
  expect(read('https://x.example/?a=1&amp;b=2&#38;c=3&#x26;d=&quot;e')).toEqual([
    'https://x.example/?a=1&b=2&c=3&d=%22e',
  ])
  expect(read('https://x.example/?a=1&b=2&copy=3&lt=4&amp=5')).toEqual(['https://x.example/?a=1&b=2&copy=3&lt=4&amp=5'])
  expect(read(' https://x.example/\n ')).toEqual(['https://x.example/'])
  expect(read('ht\ntps://x.example/a b/é')).toEqual(['https://x.example/a%20b/%C3%A9'])
  expect(read('https://x.example/&eacute;')).toEqual([])
  expect(read('https://x.example/?a=1&euro;=2')).toEqual([])
  expect(read('https://x.example/&constructor;&#xd800;')).toEqual([])
  expect(read('https://x:y:z/ ')).toEqual([])
  expect(read('https://é é/')).toEqual([])
  expect(read(`https://x.example/${'a'.repeat(4_000)}`)).toEqual([])
})

test('comments, styles, scripts and conditional comments stay unchanged', () => {
  const link = '<a href="https://x.example">x</a>'
  for (const html of [
    `<!-- ${link} -->`,
    `<!--[if mso]>${link}<![endif]-->`,
    `<style>${link}</style>`,
    `<script>"${link}</script >`,
    `<title>${link}</title>`,
    `<textarea>${link}</textarea>`,
    `<!-- ${link}`,
    `<STYLE>${link}`,
    `<style>${link}</styles>`,
    `<!doctype html ${link.slice(0, 10)}`,
  ])
    expect(track(html)).toEqual({ html: html + pixel, urls: [] })
  for (const html of [
    `<!--[if !mso]><!-->${link}<!--<![endif]-->`,
    `<![if !mso]>${link}<![endif]>`,
    `<!-->${link}`,
    `<!--->${link}-->`,
    `<style></style>${link}`,
    `<script></SCRIPT>${link}`,
  ])
    expect(destinations(html)).toEqual(['https://x.example'])
})

test('links in other attributes stay unchanged', () => {
  const html = `<img alt='a > <a href="https://x.example">'><p title="<a href='https://x.example'>"></p>`
  expect(track(html)).toEqual({ html: html + pixel, urls: [] })
})

test('malformed tags are read as browsers read them', () => {
  expect(destinations('<a href="https://x.example" href="https://y.example">')).toEqual(['https://x.example'])
  expect(destinations("<a\n\tHREF = 'https://x.example'class=x>")).toEqual(['https://x.example'])
  expect(destinations("<a title=it's href=https://x.example/?a>")).toEqual(['https://x.example/?a'])
  expect(destinations('<a/href="https://x.example"/>')).toEqual(['https://x.example'])
  expect(destinations('<a ""href="https://x.example">')).toEqual([])
  expect(destinations('< a href="https://x.example">')).toEqual([])
  expect(destinations('<a href="https://x.example')).toEqual([])
  expect(destinations('<a href="https://x.example"')).toEqual([])
  expect(destinations('<<a href="https://x.example">')).toEqual(['https://x.example'])
})

const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<a href="https://x.example/?a=1&amp;b=2">',
        "<a href='http://y.example'>",
        '<a href=https://z.example>',
        '<a ',
        'href=',
        '"',
        "'",
        '>',
        '<',
        '</a>',
        '<!--',
        '-->',
        '<style>',
        '</style>',
        '<script',
        '</script>',
        '</body>',
        '=',
        ' ',
        '/',
        '&amp;',
        '<![endif]-->',
        '<area href="https://w.example" ',
        'data-waxwing-track="off"',
        '\n',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(''))

test('for any HTML, everything but link destinations stays byte-identical', () => {
  fc.assert(
    fc.property(soup, (html) => {
      const { html: tracked, urls } = track(html)
      expect(tracked.split(pixel)).toHaveLength(2)
      const kept = tracked.replace(pixel, '').split(/"https:\/\/t\.example\/\d+"/)
      expect(kept).toHaveLength(urls.length + 1)
      let at = 0
      for (const [index, text] of kept.entries()) {
        const start = index === 0 ? 0 : html.indexOf(text, at)
        expect(html.startsWith(text, start)).toBe(true)
        if (index > 0) expect(html.slice(at, start)).toMatch(/^(["']?)https?:\/\/.*\1$/is)
        at = start + text.length
      }
      expect(at).toBe(html.length)
    }),
    { numRuns: 3_000 },
  )
})

test('a hostile document takes no longer than a plain one of its size', () => {
  // Each of these would take hours with quadratic cost; finishing is the test.
  const length = 1_000_000
  for (const piece of [
    '<',
    '<a ',
    '<!--',
    '<a href="',
    '<style>',
    "<a href='https://x.example'",
    '<a href=',
    '&',
    '<a href="https://x.example/?&amp',
    '</',
  ])
    expect(track(piece.repeat(length / piece.length)).html).toContain(pixel)
})

test('tracks the first thousand links', () => {
  const html = '<a href="https://a.example">x</a>'.repeat(1_001)
  const tracked = trackLinks(html, {
    trackedUrl: () => 'https://t.example',
    pixelUrl: undefined,
    unsubscribeUrl: undefined,
  })
  expect(tracked.split('https://t.example')).toHaveLength(1_001)
  expect(tracked).toMatch(/<a href="https:\/\/a\.example">x<\/a>$/)
})

test('emails with more links than one turn of the event loop allows are found, however they are written', () => {
  for (const link of ['<a href="//x.example">x</a>', '<A\nHREF=//x.y>', '<area href=//x.y>']) {
    expect(hasManyLinks(link.repeat(linksOfOneTurn))).toBe(false)
    expect(hasManyLinks(`<p>${link.repeat(linksOfOneTurn + 1)}`)).toBe(true)
  }
  expect(hasManyLinks('<p>x</p><b>x</b>'.repeat(1_000))).toBe(false)
})
