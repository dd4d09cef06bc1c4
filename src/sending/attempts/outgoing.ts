import type { DefaultSender } from '../../accounts/accounts.ts'
import {
  type BodyOutputs,
  compose,
  composePieces,
  type Email,
  type EmailBody,
  type EmailInPieces,
  type FilledBody,
  finishBody,
  layoutOf,
  type Piece,
  type ReadyVersion,
  recipientOf,
  type TemplateRunner,
  type TemplateValues,
  unsubscribeUrlOf,
  type Way,
  withUnsubscribeLine,
} from '../../content/content.ts'
import type { ReportProvider, SenderHosts, Senders } from '../../delivery/delivery.ts'
import type { Tokens } from '../../platform/secrets/tokens.ts'
import { domainOfAddress } from '../../platform/values/domain.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import type { Attachment, EmailContent } from '../attachments/content.ts'
import { composeRaw } from './compose-raw.ts'
import type { SendRow } from './send.sql.ts'

export type { EmailBody } from '../../content/content.ts'

/** By the signed message id. */
export type IdHeaders = (signedId: string) => Readonly<Record<string, string>>

/** `SenderHosts` of the installation, which a sending domain may replace. */
export type EmailSettings = SenderHosts & {
  /** The default sender of the installation, also of emails to its users. */
  mailFrom: DefaultSender
  /** Headers with the signed message id, by which the webhooks of these and other providers identify the message. */
  idHeaders?: ((providers: readonly ReportProvider[]) => IdHeaders | undefined) | undefined
}

type OwnSender = { fromName: string | null; fromEmail: string | null }

/**
 * Returns the sender of emails of a flow: that of the flow, or the default sender with the sender name of the flow, if
 * any. A promise only if it has to be looked up.
 */
export function senderOf(
  senders: Pick<Senders, 'defaultOf'>,
  organizationId: OrganizationId,
  { fromName, fromEmail }: OwnSender,
): DefaultSender | Promise<DefaultSender> {
  if (fromEmail !== null) return { name: fromName, email: fromEmail }
  const named = ({ name, email }: DefaultSender) => ({ name: fromName ?? name, email })
  const sender = senders.defaultOf(organizationId)
  return sender instanceof Promise ? sender.then(named) : named(sender)
}

export const mailboxText = ({ name, email }: EmailSettings['mailFrom']) => (name ? `${name} <${email}>` : email)

export type OutgoingEmail = {
  /** An email with attachments consists of pieces, the first of which contains all headers. */
  raw: string | readonly Piece[]
  sender: string
  recipient: string
  subject: string
}

/** `content`: what does not come from the version. */
export type MessageToSend = { row: SendRow; version: ReadyVersion; content?: EmailContent | undefined }

type TemplateRow = Pick<SendRow, 'email' | 'recipient' | 'context' | 'queuedAt' | 'flowKind'>

/** What the template of a message reads. Nothing in it changes after the message was accepted. */
const templateValues = (row: TemplateRow, unsubscribeUrl: string): TemplateValues => ({
  unsubscribeUrl,
  time: row.queuedAt.getTime(),
  context: row.context ?? {},
  ...recipientOf(row.email, row.recipient ?? {}),
})

type EmailMaking = {
  tokens: Tokens
  from: DefaultSender
  idHeaders: IdHeaders | undefined
}

const signed = (tokens: Tokens, { organizationId, id: messageId, contactId, flowId, isTest }: SendRow) =>
  tokens.signEmail({ organizationId, messageId, contactId, flowId }, isTest)

/** Both return undefined if the template is too slow for the main thread. */
export type Rendering = {
  body(values: TemplateValues): EmailBody | undefined
  /** Called only if the template has an outline. */
  outputs?: (values: TemplateValues) => BodyOutputs | undefined
}

const needsTask = { skip: 'needs task' } as const

/**
 * Builds the email with its tracked links. The same message, sender and hosts always yield the same bytes. `content` is what
 * does not come from the version.
 */
export function makeEmail(
  { row, version, content }: MessageToSend,
  { tokens, from, idHeaders }: EmailMaking,
  { baseUrl, bounceDomain }: SenderHosts,
  rendering: Rendering,
): OutgoingEmail | typeof needsTask {
  const { organizationId, id: messageId, flowId } = row
  const { first_name, last_name } = row.recipient ?? {}
  const token = signed(tokens, row)
  const unsubscribeUrl = unsubscribeUrlOf(baseUrl, token)
  const way: Way = {
    organizationId,
    isMarketing: row.flowKind === 'marketing',
    tracksClicks: content?.tracking.clicks !== false,
    tracksOpens: content?.tracking.opens !== false,
    utmQuery: row.recipient?.utm ?? version.utmQuery,
    baseUrl,
    sign: (link) => tokens.signDestination({ organizationId, flowId }, link),
  }
  const values = templateValues(row, unsubscribeUrl)
  const layout = rendering.outputs ? layoutOf(version, flowId, way) : undefined
  const outputs = layout && rendering.outputs!(values)
  if (layout && !outputs) return needsTask
  let finished: FilledBody | ReturnType<typeof finishBody> | undefined = layout?.fill(outputs!, token)
  if (!finished) {
    const body = rendering.body(values)
    if (!body) return needsTask
    finished = finishBody(body, way, token)
  }
  const { html, text } = finished
  if (finished.hasManyLinks) version.hasManyLinks = true
  const addressIds = { organizationId, messageId }
  const signedId = bounceDomain || idHeaders ? tokens.sign('bounce', addressIds) : ''
  const replyTo = content?.from ? content.replyTo : version.replyTo === null ? [] : [{ email: version.replyTo }]
  const headers = content?.headers.length
    ? {
        ...Object.fromEntries(content.headers.map(({ name, value }) => [name, value])),
        ...idHeaders?.(signedId),
      }
    : idHeaders?.(signedId)
  const email = {
    id: messageId,
    ...(content?.sharesMessageId && { sharedId: content.id }),
    domain: domainOfAddress(from.email),
    from,
    to: { name: [first_name, last_name].filter(Boolean).join(' ') || null, email: row.email },
    ...(content?.from && { shown: content }),
    replyTo,
    subject: row.subject,
    html,
    text,
    date: row.queuedAt,
    ...(headers && { headers }),
    ...(row.flowKind === 'marketing' && {
      unsubscribe: {
        url: unsubscribeUrl,
        email: bounceDomain ? `${tokens.sign('unsubscribe_by_mail', addressIds)}@${bounceDomain}` : null,
      },
    }),
  }
  const { raw, recipient } = composeAny(email, content)
  const sender = bounceDomain ? `${signedId}@${bounceDomain}` : from.email
  return { raw, sender, recipient, subject: row.subject }
}

/** Returns a string if the email has no files. */
function composeAny(email: Omit<EmailInPieces, 'attachments'>, content: EmailContent | undefined) {
  if (content?.raw) return composeRaw(email, content, content.raw)
  const files = content?.attachments ?? noFiles
  if (files.length === 0 && hasBothBodies(email)) return compose(email)
  const attachments = files.map(({ fileId, bytes, ...headers }) => ({
    ...headers,
    file: { fileId, start: 0, end: bytes, encoding: 'base64' as const },
  }))
  const { pieces, recipient } = composePieces({ ...email, attachments })
  const [only] = pieces
  return { raw: pieces.length === 1 && typeof only === 'string' ? only : pieces, recipient }
}

const noFiles: readonly Attachment[] = []
const hasBothBodies = (email: Omit<EmailInPieces, 'attachments'>): email is Email =>
  email.html !== null && email.text !== null

/** Returns the sender of an email: that of its own content, or that of its flow. */
export const senderOfMessage = (
  senders: Pick<Senders, 'defaultOf'>,
  organizationId: OrganizationId,
  version: OwnSender,
  content: Pick<EmailContent, 'from'> | undefined,
): DefaultSender | Promise<DefaultSender> =>
  content?.from
    ? { name: content.from.name ?? null, email: content.from.email }
    : senderOf(senders, organizationId, version)

/** Returns the template values of a message. */
export const emailValues = (row: SendRow, tokens: Tokens, { baseUrl }: SenderHosts): TemplateValues =>
  templateValues(row, unsubscribeUrlOf(baseUrl, signed(tokens, row)))

/** The unsubscribe link of an email that is only shown. */
export const shownUnsubscribeUrl = '#unsubscribe'

/**
 * Returns the bodies of an email as the message page shows them. Without a template, its content is shown as it was
 * accepted.
 */
export async function showMail(
  runner: TemplateRunner,
  version: ReadyVersion,
  row: TemplateRow,
  content?: EmailBody,
): Promise<EmailBody> {
  const body = content ?? (await runner.body(version, templateValues(row, shownUnsubscribeUrl), 'refuse'))
  return withUnsubscribeLinkIfMarketing(body, row, shownUnsubscribeUrl)
}

/** Marketing emails always contain an unsubscribe link, even if the template does not. */
function withUnsubscribeLinkIfMarketing(body: EmailBody, row: TemplateRow, unsubscribeUrl: string): EmailBody {
  return row.flowKind === 'marketing' ? withUnsubscribeLine(body, unsubscribeUrl) : body
}
