import { openRelay, type SendOutcome } from '@waxwing/smtp-client'

export type Failure = {
  action?: string
  status?: string
  code?: number
  text?: string
  recipient?: string
  headers?: string
}

/** A delivery status notification (RFC 3464) for an email that the relay had accepted. */
export function deliveryStatusMail(to: string, failure: Failure = {}): string {
  const { action = 'failed', status = '5.1.1', code = 550, text = 'No such user here' } = failure
  const { recipient = 'ada@example.com', headers } = failure
  return `Return-Path: <>
From: Mail Delivery System <MAILER-DAEMON@relay.example>
To: ${to}
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not be delivered.

<${recipient}>: host mx.example.com said: ${code} ${status} ${text}

--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; relay.example

Final-Recipient: rfc822; ${recipient}
Action: ${action}
Status: ${status}
Diagnostic-Code: smtp; ${code} ${status} ${text}

--b1
Content-Type: text/rfc822-headers

${headers ?? 'Message-ID: <somebody-elses@example.net>'}

--b1--
`.replaceAll('\n', '\r\n')
}

/** A feedback report (RFC 5965), by default for a recipient who reported spam. */
export const complaintMail = (to: string, feedbackType = 'abuse') =>
  `From: staff@mailbox.example
To: ${to}
Subject: FW: News
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="b1"

--b1
Content-Type: text/plain

This is an email abuse report.

--b1
Content-Type: message/feedback-report

Feedback-Type: ${feedbackType}
User-Agent: Mailbox/1.0
Version: 1
Original-Rcpt-To: ada@example.com

--b1
Content-Type: message/rfc822

From: shop@acme.example
To: ada@example.com
Subject: News

Hello

--b1--
`.replaceAll('\n', '\r\n')

/** Delivers an email to an SMTP server. */
export async function deliver(port: number, from: string, to: string, raw: string): Promise<SendOutcome> {
  const relay = openRelay(`smtp://127.0.0.1:${port}`)
  try {
    return await relay.send({ envelope: { from, to }, raw })
  } finally {
    await relay.close()
  }
}
