/** Builds bounce emails in the formats that mail systems use, for tests of the classifier. */

export const ourAddress = 'b-0123abcd@bounces.sender.example'

export function mail(headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n${body.trimStart().replaceAll('\n', '\r\n')}`
}

/** A notice in plain words from a mail system. */
export function notice(body: string, headers: Record<string, string> = {}): string {
  return mail(
    {
      'Return-Path': '<>',
      From: 'Mail Delivery System <MAILER-DAEMON@relay.example>',
      To: ourAddress,
      Subject: 'Undelivered Mail Returned to Sender',
      'Content-Type': 'text/plain; charset=utf-8',
      ...headers,
    },
    body,
  )
}

export const returnedHeaders = `
Return-Path: <${ourAddress}>
Received: from app.sender.example by relay.example (Postfix) with ESMTPS id 4FACE54321
Message-ID: <msg-1@sender.example>
From: Shop <hello@sender.example>
To: ada@example.com
Subject: Your order
`.trimStart()

export type ReportPart = { type: string; body: string }

export function report(parts: ReportPart[], headers: Record<string, string> = {}, boundary = 'part-of-report'): string {
  const written = parts.map(({ type, body }) => `--${boundary}\nContent-Type: ${type}\n\n${body.trimStart()}\n`)
  return notice(`${written.join('')}--${boundary}--\n`, {
    'Content-Type': `multipart/report; report-type=delivery-status; boundary="${boundary}"`,
    ...headers,
  })
}

/** A report as RFC 3464 asks for it. `fields` are those of the recipients, group by group. */
export function deliveryStatus(fields: string, words = 'Your message could not be delivered.'): string {
  return report([
    { type: 'text/plain; charset=us-ascii', body: words },
    {
      type: 'message/delivery-status',
      body: `Reporting-MTA: dns; relay.example\nX-Postfix-Queue-ID: 4CAFE12345\nX-Postfix-Sender: rfc822; ${ourAddress}\n\n${fields.trim()}\n`,
    },
    { type: 'text/rfc822-headers', body: returnedHeaders },
  ])
}

/** A complaint as RFC 5965 asks for it. */
export function feedback(fields: string, returned = returnedHeaders): string {
  return report(
    [
      { type: 'text/plain', body: 'This is an email abuse report.' },
      { type: 'message/feedback-report', body: fields },
      { type: 'message/rfc822', body: `${returned}\nHello` },
    ],
    { From: 'feedback@loop.example', Subject: 'FW: Your order', 'Return-Path': '<feedback@loop.example>' },
  )
}
