import type { Mailbox } from '../../content/content.ts'
import type { EmailId, FileId, OrganizationId } from '../../platform/values/ids.ts'

/*
 * The content of an email that does not come from a flow alone. One row of `email_contents` for each accepted email; its
 * messages, one for each recipient in To, Cc and Bcc, refer to it (`messages.content_id`). There are three kinds:
 *
 * - email: an email without a flow, with addresses, headers, bodies and attachments.
 * - flow: the attachments of an email through a flow. Everything else comes from the flow.
 * - raw: an email that another program composed (SMTP submission). Its body is a stored file that is sent as it is, except
 *   for those of `raw.parts` that get tracked links or an unsubscribe link. `html` and `text` are what these parts contain.
 *
 * Files are stored once for each organization (`files.ts`), and are deleted some time after the last email that uses
 * them (`retention.ts`), together with `html` and `text`. The rest of the content is kept as long as the message.
 */

export type { EventTag as Tag } from '../../platform/values/event-types.ts'

export type Attachment = {
  fileId: FileId
  filename: string
  /** With parameters, such as `text/calendar; method=REQUEST`. */
  contentType: string
  /** Without angle brackets. Set for an image that the HTML shows as `cid:…`. */
  contentId: string | null
  bytes: number
}

export type RawSource = {
  /** Header fields of the original that are sent, each ending with CRLF, without `bodyHeaders`. */
  headers: string
  /** Content-Type and Content-Transfer-Encoding of the original. */
  bodyHeaders: string
  /** Everything after the empty line, with CRLF line endings. */
  body: { fileId: FileId; bytes: number; isAscii: boolean }
  /** Where the HTML and the text of this content are in the body. */
  parts: RawPart[]
}

export type RawPart = {
  kind: 'html' | 'text'
  /** Byte offsets of its header and of the end of its content. */
  start: number
  end: number
  /** The header fields for other content, in UTF-8 and quoted-printable. Null if the part is the whole body. */
  newHeader: string | null
  /** True if its lines are too long for mail servers, so that it is written again, encoded. */
  hasLongLines?: boolean
}

/** Stored as JSON. */
export type ContentDetails = {
  kind: 'email' | 'flow' | 'raw'
  /** Null for the kind `flow`. */
  from: Mailbox | null
  /** What all recipients see. */
  to: Mailbox[]
  cc: Mailbox[]
  replyTo: Mailbox[]
  headers: { name: string; value: string }[]
  tracking: { opens: boolean; clicks: boolean }
  attachments: Attachment[]
  raw: RawSource | null
  /** True if the email has several recipients, whose emails have one Message-ID: that of the content. */
  sharesMessageId?: boolean
  /** True if the text is derived from the HTML, at the latest when the email is sent for the first time (`lacksText`). */
  derivesText?: boolean
}

/** Releases before this migration would send such an email without a text. */
export const derivedTextSince = 335

/** A content as it is sent. */
export type EmailContent = ContentDetails & {
  organizationId: OrganizationId
  id: EmailId
  /** Both null for the kind `flow`, and while they are not loaded (`isLarge`). */
  html: string | null
  text: string | null
  /** The size of both in UTF-8. */
  bodyBytes: number
  /** Whether it takes so much memory that few such emails are composed at the same time. */
  isLarge: boolean
}

/** Larger emails are composed a few at a time. */
const ordinaryBodyBytesMax = 128 * 1024
const ordinaryFileBytesMax = 512 * 1024

/** Whether the text still has to be derived. Of a large content, it may be stored but not loaded. */
export const lacksText = ({ derivesText, text }: Pick<EmailContent, 'derivesText' | 'text'>): boolean =>
  derivesText === true && text === null

export const filesOf = ({ attachments, raw }: Pick<ContentDetails, 'attachments' | 'raw'>) => [
  ...attachments.map(({ fileId, bytes }) => ({ fileId, bytes })),
  ...(raw ? [raw.body] : []),
]

export const isLarge = (details: ContentDetails, bodyBytes: number): boolean =>
  bodyBytes > ordinaryBodyBytesMax || filesOf(details).reduce((sum, { bytes }) => sum + bytes, 0) > ordinaryFileBytesMax

export const flowContent: ContentDetails = {
  kind: 'flow',
  from: null,
  to: [],
  cc: [],
  replyTo: [],
  headers: [],
  tracking: { opens: true, clicks: true },
  attachments: [],
  raw: null,
}
