import { complaintMail, deliveryStatusMail } from '../bounce-sender.ts'
import type { Seeded } from '../seeded.ts'
import { hostileText, mutate } from './values.ts'

/** Generators for templates, CSV, email and SMTP. */

const filters = [
  'upcase',
  'date: "%c"',
  'date: "%Y", "Europe/Berlin"',
  'append: "x"',
  'split: ","',
  'sort',
  'where: "a", 1',
  'default: "-"',
  'truncate: 3',
  'replace: "a", "aa"',
  'times: 999999999',
  'divided_by: 0',
  'round: 400',
  'json',
  'join: ","',
  'slice: 0, 5',
  'strip_html',
  'escape',
  'url_encode',
  'map: "a"',
  'concat: a',
  'uniq',
  'nope',
]
const names = [
  'a',
  'a.b',
  'first_name',
  'contact.email',
  'x[0]',
  'x["y"]',
  'constructor',
  '__proto__',
  '"text"',
  '1',
  '(1..5)',
  '(1..100000000)',
  'nil',
  'forloop.index',
]

const expression = (random: Seeded) =>
  `${random.pick(names)}${Array.from({ length: random.int(0, 4) }, () => ` | ${random.pick(filters)}`).join('')}`

export function liquid(random: Seeded, depth = 0): string {
  const inner = () => (depth > 3 ? 'x' : liquid(random, depth + 1))
  const pieces: (() => string)[] = [
    () => `{{ ${expression(random)} }}`,
    () =>
      `{% if ${random.pick(names)} ${random.pick(['==', '>', 'contains', 'and', 'or'])} ${random.pick(names)} %}${inner()}{% else %}${inner()}{% endif %}`,
    () => `{% for i in ${random.pick(names)} limit: ${random.int(0, 9)} %}${inner()}{% endfor %}`,
    () => `{% for i in (1..${random.pick([3, 300, 1_000_000])}) %}${inner()}{% endfor %}`,
    () => `{% assign a = ${expression(random)} %}`,
    () => `{% capture a %}${inner()}{% endcapture %}`,
    () => `{% case ${random.pick(names)} %}{% when 1 %}${inner()}{% endcase %}`,
    () => `{% raw %}${inner()}{% endraw %}`,
    () =>
      `{% ${random.pick(['include', 'render', 'layout', 'tablerow', 'cycle', 'increment', 'unless', 'comment', 'liquid', 'break'])} ${expression(random)} %}`,
    () =>
      `<a href="${random.pick(['https://example.com/{{a}}', 'javascript:x', '{{a}}', 'mailto:a@b.c', ''])}">${inner()}</a>`,
    () => `<p style="${hostileText(random).slice(0, 300)}">${inner()}</p>`,
    () => random.pick(['{{', '}}', '{%', '%}', '<', '<!--', ']]>', '&#0;', hostileText(random)]),
  ]
  const text = Array.from({ length: random.int(1, depth === 0 ? 12 : 3) }, () => random.pick(pieces)()).join('')
  return random.chance(0.2) ? mutate(text, random) : text
}

export function mjml(random: Seeded): string {
  const element = (depth: number): string => {
    const name = random.pick([
      'section',
      'column',
      'text',
      'button',
      'image',
      'include',
      'raw',
      'table',
      'divider',
      'wrapper',
      'hero',
      'navbar',
      'accordion',
      'style',
      'wrong',
    ])
    const attribute = random.chance(0.5)
      ? ` ${random.pick(['href', 'src', 'path', 'width', 'padding', 'wrong'])}="${random.pick(['/etc/passwd', '{{a}}', '100000%', '"', hostileText(random).slice(0, 200)])}"`
      : ''
    const inner =
      depth > 3 ? liquid(random, 3) : Array.from({ length: random.int(0, 3) }, () => element(depth + 1)).join('')
    return `<mj-${name}${attribute}>${inner}</mj-${name}>`
  }
  const text = `<mjml><mj-head><mj-title>${liquid(random, 3)}</mj-title></mj-head><mj-body>${element(0)}<mj-section><mj-column><mj-text>${liquid(random, 2)}</mj-text></mj-column></mj-section></mj-body></mjml>`
  return random.chance(0.4) ? mutate(text, random) : text
}

export function csv(random: Seeded): string {
  const delimiter = random.pick([',', ';', '\t', '|'])
  const end = random.pick(['\n', '\r\n', '\r'])
  const columns = ['email', 'first_name', 'last_name', 'plan', hostileText(random).slice(0, 50)].slice(
    0,
    random.int(1, 5),
  )
  const cell = () =>
    random.chance(0.3)
      ? `"${hostileText(random).slice(0, 2_000)}"`
      : random.pick(['ada@example.com', '', 'Ada', '"a""b"', '"', "=cmd|'/C calc'!A0"])
  const rows = Array.from({ length: random.int(0, 200) }, () => columns.map(cell).join(delimiter))
  const text = [columns.join(delimiter), ...rows].join(end)
  return random.chance(0.5) ? mutate(text, random, random.int(1, 10)) : text
}

export function bounceEmail(to: string, random: Seeded): string {
  const shapes = [
    () =>
      deliveryStatusMail(to, {
        action: random.pick(['failed', 'delayed', hostileText(random).slice(0, 50)]),
        status: random.pick(['5.1.1', '4.2.2', '9.9.9', '']),
        code: random.pick([550, 452, 0]),
        text: hostileText(random).slice(0, 5_000),
        recipient: random.pick(['ada@example.com', hostileText(random).slice(0, 300)]),
      }),
    () =>
      `From: MAILER-DAEMON@relay.example\r\nTo: ${to}\r\nSubject: Undelivered Mail\r\nX-Failed-Recipients: ${hostileText(random)}\r\n\r\n${hostileText(random)}\r\n550 ${hostileText(random)}\r\n<ada@example.com>: unknown user`,
    () => complaintMail(to, random.pick(['abuse', 'opt-out', hostileText(random)])),
    () =>
      `${Array.from({ length: random.int(1, 300) }, (_, i) => `X-H${i}: ${random.pick(['=?utf-8?q?_?=', '<a@b>', '()', '"'])}`).join('\r\n')}\r\n\r\nx`,
    () =>
      `Content-Type: multipart/${random.pick(['mixed', 'report', 'alternative'])}; boundary="${random.pick(['b', '', '--', 'b'.repeat(300)])}"\r\n\r\n${'--b\r\n'.repeat(random.int(1, 2_000))}`,
    () =>
      `Content-Transfer-Encoding: ${random.pick(['base64', 'quoted-printable', 'x'])}\r\nContent-Type: text/plain; charset=${random.pick(['utf-16', 'iso-2022-jp', 'nope', 'utf-7'])}\r\n\r\n${hostileText(random)}`,
  ]
  const mail = random.pick(shapes)()
  return random.chance(0.6) ? mutate(mail, random, random.int(1, 8)) : mail
}

export function smtpLines(to: string, random: Seeded): string[] {
  const commands = [
    'EHLO a',
    'HELO a',
    'MAIL FROM:<>',
    `RCPT TO:<${to}>`,
    'DATA',
    'x\r\n.',
    'RSET',
    'NOOP',
    'VRFY a',
    'AUTH PLAIN',
    'STARTTLS',
    'BDAT 10 LAST',
    'QUIT',
    `MAIL FROM:<${hostileText(random).slice(0, 2_000)}> SIZE=99999999999`,
    'RCPT TO:<@a,@b:c@d>',
    'HELP',
    '\0',
  ]
  return Array.from({ length: random.int(1, 12) }, (_, i) => {
    const line = i < 5 && random.chance(0.7) ? commands[[0, 2, 3, 4, 5][i]!]! : random.pick(commands)
    return random.chance(0.2) ? mutate(line, random) : line
  })
}
