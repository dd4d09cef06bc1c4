import { recipientOf } from '../flows/recipient.ts'
import type { RenderedBody } from '../flows/template.ts'
import type { ReadyVersion } from '../flows/template-cache.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import { withUnsubscribeLine } from '../flows/unsubscribe-line.ts'
import type { TemplateValues } from '../flows/values.ts'
import { compose } from '../mime/compose.ts'
import type { Tokens } from '../secrets/tokens.ts'
import { parseEmail } from '../values/email.ts'
import { SetupFault } from '../values/errors.ts'
import type { SendRow } from './send.sql.ts'
import { trackLinks } from './track-links.ts'

export type EmailSettings = {
  baseUrl: string
  /** The sender of flows without their own: `Name <address>` or an address. */
  mailFrom: { name: string | null; email: string }
  /** The domain that receives bounces; undefined if none are received. */
  bounceDomain: string | undefined
  /** Headers with the signed message id, by which a provider webhook identifies the message. */
  idHeaders?: ((signedId: string) => Readonly<Record<string, string>>) | undefined
}

/** Parses `Name <address>` or an address. Throws `SetupFault` if MAIL_FROM is invalid. */
export function parseMailbox(text: string): EmailSettings['mailFrom'] {
  const named = /^\s*"?([^"<]*?)"?\s*<([^<>]+)>\s*$/.exec(text)
  const parsed = parseEmail(named?.[2] ?? text)
  if (!parsed.ok) throw new SetupFault(`MAIL_FROM: "${text}" ${parsed.problem}.`)
  return { name: named?.[1] || null, email: parsed.address }
}

/** Returns the sender: that of the flow, or MAIL_FROM with the sender name of the flow, if any. */
export function senderOf(
  { fromName, fromEmail }: { fromName: string | null; fromEmail: string | null },
  mailFrom: EmailSettings['mailFrom'],
): EmailSettings['mailFrom'] {
  return fromEmail === null
    ? { name: fromName ?? mailFrom.name, email: mailFrom.email }
    : { name: fromName, email: fromEmail }
}

export const mailboxText = ({ name, email }: EmailSettings['mailFrom']) => (name ? `${name} <${email}>` : email)

export type OutgoingEmail = { raw: string; sender: string; recipient: string; subject: string }

type TemplateRow = Pick<SendRow, 'email' | 'recipient' | 'context' | 'queuedAt' | 'flowKind'>

/** What the template of a message reads. Nothing in it changes after the message was accepted. */
class MessageValues implements TemplateValues {
  readonly contact: TemplateValues['contact']
  readonly organization: TemplateValues['organization']
  readonly time: number
  readonly context: TemplateValues['context']
  readonly #unsubscribeUrl: () => string

  constructor(row: TemplateRow, unsubscribeUrl: () => string) {
    const { contact, organization } = recipientOf(row.email, row.recipient ?? {})
    this.contact = contact
    this.organization = organization
    this.time = row.queuedAt.getTime()
    this.context = row.context ?? {}
    this.#unsubscribeUrl = unsubscribeUrl
  }

  /** Signed on access. */
  get unsubscribeUrl(): string {
    return this.#unsubscribeUrl()
  }
}

const ordinary = { open: 'open', click: 'click', unsubscribe: 'unsubscribe' } as const
/** The links of a test email work, but record nothing. */
const ofTests = { open: 'test_open', click: 'test_click', unsubscribe: 'test_unsubscribe' } as const
const purposesOf = ({ isTest }: SendRow) => (isTest ? ofTests : ordinary)

/**
 * Builds the email with its tracked links. The same message always yields the same bytes. Returns undefined if `renderBody`
 * does.
 */
export function makeEmail(
  row: SendRow,
  version: ReadyVersion,
  tokens: Tokens,
  settings: EmailSettings,
  renderBody: (values: TemplateValues) => RenderedBody | undefined,
): OutgoingEmail | undefined {
  const { organizationId, id: messageId, contactId, flowId } = row
  const { first_name, last_name } = row.recipient ?? {}
  const ids = { organizationId, messageId, contactId, flowId }
  const purposes = purposesOf(row)
  const { baseUrl, bounceDomain } = settings
  let signedUrl: string | undefined
  const unsubscribeUrl = () => {
    signedUrl ??= `${baseUrl}/u/${tokens.sign(purposes.unsubscribe, ids)}`
    return signedUrl
  }
  const body = renderBody(new MessageValues(row, unsubscribeUrl))
  if (!body) return undefined
  const rendered = withUnsubscribeLinkIfMarketing(body, row, unsubscribeUrl)
  const html = trackLinks(rendered.html, {
    trackedUrl: (url) => `${baseUrl}/t/c/${tokens.sign(purposes.click, { url, ...ids })}`,
    pixelUrl: `${baseUrl}/t/o/${tokens.sign(purposes.open, ids)}`,
    unsubscribeUrl: signedUrl,
  })
  const from = senderOf(version, settings.mailFrom)
  const addressIds = { organizationId, messageId }
  const signedId = bounceDomain || settings.idHeaders ? tokens.sign('bounce', addressIds) : ''
  const { raw, recipient } = compose({
    id: messageId,
    domain: from.email.slice(from.email.lastIndexOf('@') + 1),
    from,
    to: { name: [first_name, last_name].filter(Boolean).join(' ') || null, email: row.email },
    replyTo: version.replyTo === null ? null : { email: version.replyTo },
    subject: row.subject,
    html,
    text: rendered.text,
    date: row.queuedAt,
    ...(settings.idHeaders && { headers: settings.idHeaders(signedId) }),
    ...(row.flowKind === 'marketing' && {
      unsubscribe: {
        url: unsubscribeUrl(),
        email: bounceDomain ? `${tokens.sign('unsubscribe_by_mail', addressIds)}@${bounceDomain}` : null,
      },
    }),
  })
  const sender = bounceDomain ? `${signedId}@${bounceDomain}` : from.email
  return { raw, sender, recipient, subject: row.subject }
}

/** Returns the template values of a message. */
export function emailValues(row: SendRow, tokens: Tokens, { baseUrl }: EmailSettings): TemplateValues {
  const { organizationId, id: messageId, contactId, flowId } = row
  return new MessageValues(
    row,
    () => `${baseUrl}/u/${tokens.sign(purposesOf(row).unsubscribe, { organizationId, messageId, contactId, flowId })}`,
  )
}

/** Returns the bodies of an email as the message page shows them. */
export async function showMail(runner: TemplateRunner, version: ReadyVersion, row: TemplateRow): Promise<RenderedBody> {
  const unsubscribeUrl = () => '#unsubscribe'
  return withUnsubscribeLinkIfMarketing(
    await runner.body(version, new MessageValues(row, unsubscribeUrl), 'refuse'),
    row,
    unsubscribeUrl,
  )
}

/** Marketing emails always contain an unsubscribe link, even if the template does not. */
function withUnsubscribeLinkIfMarketing(
  rendered: RenderedBody,
  row: TemplateRow,
  unsubscribeUrl: () => string,
): RenderedBody {
  return row.flowKind === 'marketing' ? withUnsubscribeLine(rendered, unsubscribeUrl()) : rendered
}
