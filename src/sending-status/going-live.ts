import { isIP } from 'node:net'
import { isLoopback, parseSmtpUrl } from '@waxwing/smtp-client'
import type { Config } from '../config/config.ts'
import { parseMailbox } from '../messages/outgoing.ts'
import { isPublicAddress } from '../webhooks/addresses.ts'

/** A `hint` when the relay is on this machine: it may be one that only shows mail to a developer. */
export type LiveProblem = { severity: 'fault' | 'hint'; message: string }

type LiveSettings = Pick<Config, 'SMTP_URL' | 'BASE_URL' | 'MAIL_FROM'>

/** What would be wrong with mail once it reaches other people. Without a relay it reaches nobody, and nothing is. */
export function liveProblems({
  SMTP_URL: relayUrl,
  BASE_URL: baseUrl,
  MAIL_FROM: mailFrom,
}: LiveSettings): LiveProblem[] {
  if (relayUrl === undefined) return []
  const { email } = parseMailbox(mailFrom)
  const messages = [
    ...(isOnlyHere(new URL(baseUrl).hostname)
      ? [`Links in mail lead to ${baseUrl}, which other people cannot open: set BASE_URL to the public address.`]
      : []),
    ...(isOnlyHere(email.slice(email.lastIndexOf('@') + 1))
      ? [
          `Flows that name no sender send from ${email}, which others refuse: set MAIL_FROM to an address of your domain.`,
        ]
      : []),
  ]
  const severity = isLoopback(parseSmtpUrl(relayUrl).host) ? 'hint' : 'fault'
  return messages.map((message) => ({ severity, message }))
}

/** Names are believed, also those of a company's own network: mail may be meant for the people in it. */
function isOnlyHere(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) ? !isPublicAddress(host) : /(^|\.)localhost$/.test(host)
}
