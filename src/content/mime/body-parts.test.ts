import { expect, test } from 'vitest'
import { seeded } from '../../../test/support/seeded.ts'
import { BodyPartFinder } from './body-parts.ts'
import { parseHeaderFields } from './header-fields.ts'

/** Returns the parts of an email, and its body. Lines end with LF in the source. */
function partsOf(source: string, chunkBytes = 10_000) {
  const email = Buffer.from(source.replaceAll('\n', '\r\n'))
  const headEnd = email.indexOf('\r\n\r\n')
  const body = email.subarray(headEnd + 4)
  const finder = new BodyPartFinder(parseHeaderFields(email.toString('latin1', 0, headEnd))!)
  for (let at = 0; at < body.length; at += chunkBytes) finder.write(body.subarray(at, at + chunkBytes))
  const parts = finder.end()
  const bytesOf = ({ start, end }: { start: number; end: number }) => body.toString('latin1', start, end)
  return { parts, bytesOf, content: parts.map(({ kind, content }) => [kind, content]) }
}

const mixed = `Content-Type: multipart/mixed; boundary="outer"

Preamble
--outer
Content-Type: multipart/alternative;
 boundary=inner

--inner
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

Gr=C3=BC=
=C3=9Fe =3D
--inner
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: base64
Content-ID: <html>

PHA+R3L832U8L3A+
--inner--
--outer
Content-Type: text/html; name=page.html
Content-Disposition: attachment; filename=page.html

<p>attached</p>
--outer--
`

test('finds the text and the HTML of an email, decoded, however it is divided into chunks', () => {
  const expected = [
    ['text', 'Grüße ='],
    ['html', '<p>Grüße</p>'],
  ]
  for (const chunkBytes of [1, 2, 3, 7, 64, 10_000]) expect(partsOf(mixed, chunkBytes).content).toEqual(expected)
})

test('reports where a part is with its header, and the header for other content', () => {
  const { parts, bytesOf } = partsOf(mixed)
  expect(parts.map(bytesOf)).toEqual([
    'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=\r\n=C3=9Fe =3D',
    'Content-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: base64\r\nContent-ID: <html>\r\n\r\nPHA+R3L832U8L3A+',
  ])
  expect(parts[1]!.newHeader).toBe(
    'Content-ID: <html>\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n',
  )
})

test('the whole body is the content of an email without parts', () => {
  const html = partsOf('Content-Type: text/html\n\n<p>One</p>\n--\nTwo\n')
  expect(html.parts).toMatchObject([{ kind: 'html', start: 0, content: '<p>One</p>\r\n--\r\nTwo\r\n' }])
  expect(html.bytesOf(html.parts[0]!)).toBe('<p>One</p>\r\n--\r\nTwo\r\n')
  expect(partsOf('Subject: x\n\nHello\n').content).toEqual([['text', 'Hello\r\n']])
  expect(partsOf('Content-Type: application/pdf\n\nx').content).toEqual([])
})

test('finds parts without a header, without content and without a last delimiter', () => {
  expect(partsOf('Content-Type: multipart/mixed; boundary=b\n\n--b\n\nplain\n--b--\n').content).toEqual([
    ['text', 'plain'],
  ])
  const empty = 'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n--b--\n'
  expect(partsOf(empty).content).toEqual([['html', '']])
  const open = 'Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>open</p>'
  expect(partsOf(open).content).toEqual([['html', '<p>open</p>']])
})

test('a part with an unknown character set or encoding is not found', () => {
  expect(partsOf('Content-Type: text/html; charset=klingon\n\n<p>x</p>\n').content).toEqual([])
  expect(partsOf('Content-Type: text/html\nContent-Transfer-Encoding: zip\n\n<p>x</p>\n').content).toEqual([])
})

test('ten thousand parts, deep nesting, endless headers and large parts end the search, not the process', () => {
  const html = 'Content-Type: text/html\n\n<p>x</p>\n'
  const many = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Type: image/png\n\nx\n'.repeat(10_000)}--b\n${html}--b--\n`
  expect(partsOf(many).content).toEqual([])
  const opened = Array.from(
    { length: 2_000 },
    (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`,
  )
  expect(partsOf(`${opened.join('')}${html}`).content).toEqual([])
  expect(
    partsOf(`Content-Type: multipart/mixed; boundary=b\n\n--b\nX: ${'x'.repeat(100_000)}\n${html}`).content,
  ).toEqual([])
  expect(partsOf(`Content-Type: text/html\n\n${'x'.repeat(600_000)}`).content).toEqual([])
  expect(partsOf(`Content-Type: multipart/mixed; boundary=b\n\n${'--\n'.repeat(300_000)}--b\n${html}`).content).toEqual(
    [['html', '<p>x</p>\r\n']],
  )
})

test('any bytes can be read in any chunks with the same result', () => {
  const random = seeded(7)
  const words = ['--outer', '--inner', '--', '\n', '\n\n', 'Content-Type: text/html', ' ', '=', 'x', mixed, '\0', 'é']
  for (let round = 0; round < 200; round++) {
    const words_ = Array.from({ length: random.int(1, 30) }, () => words[random.int(0, words.length - 1)]!)
    const source = `Content-Type: multipart/mixed; boundary=outer\n\n${words_.join('')}`
    expect(partsOf(source, random.int(1, 9)).parts).toEqual(partsOf(source).parts)
  }
})

test('the time to read equals signs and delimiters grows with their number, not with its square', () => {
  const html = 'Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n'
  const mixed = 'Content-Type: multipart/mixed; boundary=b\n\n'
  const factor = 8
  for (const [head, text, number] of [
    [html, '=', 500_000],
    [html, '= ', 250_000],
    [html, '=3', 250_000],
    [html, '=3D', 160_000],
    [mixed, '--\n', 250_000],
  ] as const) {
    const few = spentMs(() => partsOf(head + text.repeat(number / factor), 65_536))
    const many = spentMs(() => partsOf(head + text.repeat(number), 65_536))
    // The square would be almost three times what this allows.
    expect(many).toBeLessThan(few * factor ** 1.5 + 50)
  }
})

/** The least of three runs. */
function spentMs(run: () => void): number {
  const spent = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...spent)
}

test('decodes quoted-printable with digits of both cases, soft line breaks, and equals signs that start no code', () => {
  const head = 'Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n'
  const decoded = (text: string) => partsOf(head + text).content[0]![1]
  expect(decoded('=e4=E4=Ea')).toBe('ääê')
  expect(decoded('a= \t\nb=\nc \t\nd')).toBe('abc\r\nd')
  expect(decoded('=G0=0G==41=4')).toBe('=G0=0G=A=4')
})
