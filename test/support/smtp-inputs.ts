import { connect } from 'node:net'
import type { Seeded } from './seeded.ts'

/** What a client sends, each part after the reply to the one before. */
export type SmtpInput = { name: string; parts: () => readonly string[] }

/** The reply to the last part must arrive within this time. */
const withinMs = 120_000
const from = 'From: attacker@example.com\r\n'
const commandLength = 4_000
const headerLength = 128 * 1024 - 500

export type SmtpTarget = { login: string[]; recipient: string; bodyBytes: number }

const filled = (text: string, length: number) => text.repeat(Math.max(1, Math.floor(length / text.length)))

const texts = ['x', ' ', '<', '>', '(', '"', '\\', '@', 'a@b.cc,', '=?utf-8?q?=C3=BC?= ', 'Ü', '\t', ':', ';', '[1.']
const bodies = [
  '=',
  '= ',
  '=3D',
  '=3D=\r\n',
  '\r\n--',
  '\r\n--b',
  '\r\n',
  '\r\n.',
  '\n',
  'x\r\n',
  '<p>x\r\n',
  '<a href="http://x.example/">\r\n',
  'user unknown ',
  '550 5.1.1 ',
  '<u@x.example>: 550 5.1.1\r\n',
  '\0',
  'Ü\r\n',
]
const types = [
  '',
  'Content-Type: text/html\r\n',
  'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n',
  'Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n',
  'Content-Type: text/html; charset=gb18030\r\n',
  'Content-Type: multipart/mixed; boundary=b\r\n',
  'Content-Type: message/delivery-status\r\n',
]

/** Inputs of the largest permitted size for each stage of an SMTP session. */
export function* smtpInputs({ login, recipient, bodyBytes }: SmtpTarget, random: Seeded): Generator<SmtpInput> {
  const envelope = [...login, 'MAIL FROM:<attacker@example.com>\r\n', `RCPT TO:<${recipient}>\r\n`]
  for (const text of texts) {
    const long = filled(text, commandLength)
    yield { name: `EHLO ${text}`, parts: () => [`EHLO ${long}\r\n`] }
    yield {
      name: `AUTH ${text}`,
      parts: () => ['EHLO x\r\n', `AUTH PLAIN ${Buffer.from(`\0x\0${long.slice(0, 2_500)}`).toString('base64')}\r\n`],
    }
    yield { name: `MAIL ${text}`, parts: () => [...login, `MAIL FROM:<${long}>\r\n`] }
    yield { name: `RCPT ${text}`, parts: () => [...envelope, `RCPT TO:<${long}>\r\n`] }
    yield { name: `command ${text}`, parts: () => [`${long}\r\n`] }
    for (const name of [
      'To',
      'Subject',
      'X-Waxwing-Context',
      'X-Waxwing-Tags',
      'Content-Type: multipart/mixed; a',
      'Return-Path',
      'X-Failed-Recipients',
    ])
      yield {
        name: `DATA ${name}: ${text}`,
        parts: () => [...envelope, 'DATA\r\n', `${from}${name}: ${filled(text, headerLength)}\r\n\r\nHello\r\n.\r\n`],
      }
  }
  yield {
    name: 'many recipients',
    parts: () => [...envelope, Array.from({ length: 90 }, (_, at) => `RCPT TO:<u${at}@example.com>\r\n`).join('')],
  }
  for (const name of ['To: a:b;', 'X: y', `X-${'y'.repeat(60)}:`])
    yield {
      name: `DATA header fields ${name}`,
      parts: () => [
        ...envelope,
        'DATA\r\n',
        `${from}${filled(`${name}\r\n`, Math.min(headerLength, 990 * (name.length + 2)))}\r\nHello\r\n.\r\n`,
      ],
    }
  for (const text of bodies)
    for (const type of types) {
      const inParts = type.includes('multipart')
        ? `--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: ${random.pick(['7bit', 'quoted-printable'])}\r\n\r\n`
        : ''
      const bytes = text.includes('\n') || bodyBytes < 900_000 ? bodyBytes : 900_000
      yield {
        name: `body ${JSON.stringify(text)} ${type.trim()}`,
        parts: () => [...envelope, 'DATA\r\n', `${from}${type}\r\n${inParts}${filled(text, bytes)}\r\n.\r\n`],
      }
    }
  // Parts of the largest size that is read.
  for (const text of ['=', '= ', '=3D', 'x'])
    yield {
      name: `parts of ${text}`,
      parts: () => [
        ...envelope,
        'DATA\r\n',
        `${from}Content-Type: multipart/mixed; boundary=b\r\n\r\n${['plain', 'html'].map((kind) => `--b\r\nContent-Type: text/${kind}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${filled(text, 500_000)}\r\n`).join('')}--b--\r\n.\r\n`,
      ],
    }
}

/** Sends the parts, and waits for the reply to each, or for the end of the connection. Returns the last reply code, or 0. */
export function converse(port: number, parts: readonly string[]): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const left = [...parts]
    let text = ''
    let code = 0
    const end = () => {
      socket.destroy()
      resolve(code)
    }
    socket.setTimeout(withinMs, end)
    socket.on('error', end)
    socket.on('close', end)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (;;) {
        const reply = /^(?:\d{3}-.*\r?\n)*(\d{3})(?: .*)?\r?\n/.exec(text)
        if (!reply) return
        text = text.slice(reply[0].length)
        code = Number(reply[1])
        const next = left.shift()
        if (next === undefined) return end()
        socket.write(next)
      }
    })
  })
}
