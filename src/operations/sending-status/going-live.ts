import { isLoopback, parseSmtpUrl } from '@waxwing/smtp-client'
import { isOnlyHere } from '../../delivery/delivery.ts'
import type { Config } from '../../platform/config/config.ts'
import { domainOfAddress, hostOf } from '../../platform/values/domain.ts'
import { parseMailFrom } from '../../platform/values/mailbox.ts'

/** A `hint` without a mail server or if it is on this machine, because it may only show emails to a developer. */
export type LiveProblem = { severity: 'fault' | 'hint'; message: string }

type LiveSettings = Pick<Config, 'SMTP_URL' | 'BASE_URL' | 'MAIL_FROM'>

/** Returns the settings that are wrong for emails to other people. */
export function liveProblems(
  { SMTP_URL: relayUrl, BASE_URL: baseUrl, MAIL_FROM: mailFrom }: LiveSettings,
  transport: 'smtp' | 'inbox',
): LiveProblem[] {
  const { email } = parseMailFrom(mailFrom)
  const messages = [
    ...(isOnlyHere(hostOf(new URL(baseUrl)))
      ? [`Links in emails point to ${baseUrl}, which other people cannot open. Set BASE_URL to the public address.`]
      : []),
    ...(isOnlyHere(domainOfAddress(email))
      ? [
          `Flows without a sender use ${email}, which other mail servers reject. Set MAIL_FROM to an address of your domain.`,
        ]
      : []),
  ]
  const isHere = transport === 'inbox' || (relayUrl !== undefined && isLoopback(parseSmtpUrl(relayUrl).host))
  const severity = isHere ? 'hint' : 'fault'
  return messages.map((message) => ({ severity, message }))
}
