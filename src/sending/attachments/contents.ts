import {
  type NewFile,
  parseHeaderFields,
  releaseFiles,
  reuseFiles,
  shownHeaders,
  useFiles,
} from '../../content/content.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { groupBy } from '../../platform/values/group-by.ts'
import type { EmailId, FileId, OrganizationId } from '../../platform/values/ids.ts'
import { type ContentDetails, type EmailContent, filesOf, isLarge, lacksText, type RawSource } from './content.ts'
import {
  type ContentRow,
  deleteUnusedContents,
  findContent,
  findContents,
  insertContent,
  lockContents,
  moveStoredUntil,
  updateDetails,
} from './contents.sql.ts'

/** Days for which bodies and files are kept after their email was sent, or is to be sent. */
export const storedDays = 30

/** The content of an email that is not accepted yet. `details` refer to `files` by their ids. */
export type NewContent = {
  details: ContentDetails
  html: string | null
  text: string | null
  files: readonly NewFile[]
  /** True if the files are stored already, because the content is that of another email. */
  reusesFiles?: boolean
}

export type ContentToWrite = {
  organizationId: OrganizationId
  id: EmailId
  content: NewContent
  /** When the email is sent, if it is scheduled. */
  sendAt: Date | null
}

const bodyBytesOf = ({ html, text }: Pick<NewContent, 'html' | 'text'>) =>
  Buffer.byteLength(html ?? '') + Buffer.byteLength(text ?? '')

/** Writes the contents of accepted emails, and stores their files. */
export async function writeContents(tx: Tx, contents: readonly ContentToWrite[]): Promise<void> {
  for (const [organizationId, own] of groupBy(contents, (each) => each.organizationId)) {
    const stored = await storeFiles(tx, organizationId, own)
    for (const { id, content, sendAt } of own) {
      const { html, text } = content
      const details = withFiles(content.details, stored)
      const bodyBytes = bodyBytesOf(content)
      insertContent(tx, { organizationId, id, details, html, text, bodyBytes, days: storedDays, storedFrom: sendAt })
    }
  }
}

/** For an email that was moved to another time: its bodies and files are kept for as long after that. */
export const keepContentAfter = (tx: Tx, organizationId: OrganizationId, id: EmailId, sendAt: Date) =>
  moveStoredUntil(tx, organizationId, id, sendAt, storedDays)

async function storeFiles(tx: Tx, organizationId: OrganizationId, contents: readonly ContentToWrite[]) {
  const reused = contents.filter(({ content }) => content.reusesFiles)
  await reuseFiles(
    tx,
    organizationId,
    reused.flatMap(({ content }) => filesOf(content.details).map(({ fileId }) => fileId)),
  )
  const uses = contents.flatMap(({ content }) => (content.reusesFiles ? [] : content.files))
  return uses.length > 0 ? useFiles(tx, organizationId, uses) : new Map<FileId, FileId>()
}

function withFiles(details: ContentDetails, stored: ReadonlyMap<FileId, FileId>): ContentDetails {
  if (stored.size === 0) return details
  const storedAs = (id: FileId) => stored.get(id) ?? id
  return {
    ...details,
    attachments: details.attachments.map((each) => ({ ...each, fileId: storedAs(each.fileId) })),
    raw: details.raw && {
      ...details.raw,
      body: { ...details.raw.body, fileId: storedAs(details.raw.body.fileId) },
    },
  }
}

/** The content of an email that was just accepted, for a worker of this process. Undefined if it has to be loaded. */
export function contentToHandOver(id: EmailId, organizationId: OrganizationId, content: NewContent) {
  const { details, html, text } = content
  const bodyBytes = bodyBytesOf(content)
  if (filesOf(details).length > 0 || isLarge(details, bodyBytes) || lacksText({ ...details, text })) return undefined
  return { ...details, organizationId, id, html, text, bodyBytes, isLarge: false } satisfies EmailContent
}

const bodyBytesLoadedMax = 128 * 1024

const toContent = ({ details, organizationId, id, html, text, bodyBytes }: ContentRow): EmailContent =>
  Object.assign({ ...details }, { organizationId, id, html, text, bodyBytes, isLarge: isLarge(details, bodyBytes) })

/** Returns contents by id. The bodies of large ones are not loaded. */
export async function loadContents(
  db: Reader,
  keys: readonly { organizationId: OrganizationId; id: EmailId }[],
): Promise<Map<EmailId, EmailContent>> {
  if (keys.length === 0) return new Map()
  const distinct = [...new Map(keys.map((key) => [key.id, key])).values()]
  const rows = await findContents(db, distinct, bodyBytesLoadedMax)
  return new Map(rows.map((row) => [row.id, toContent(row)]))
}

/** Returns a content with its bodies, and whether these and its files are still stored. */
export async function findWholeContent(db: Reader, organizationId: OrganizationId, id: EmailId) {
  const row = await findContent(db, organizationId, id)
  return row && { ...toContent(row), isStored: row.storedUntil !== null }
}

/**
 * Deletes those of the contents that no message uses any more, with their files, and removes an erased address from the
 * others. The messages of the contact must not refer to them any more.
 */
export async function forgetContents(
  tx: Tx,
  organizationId: OrganizationId,
  ids: readonly EmailId[],
  emailKey: string,
): Promise<void> {
  if (ids.length === 0) return
  const shared = await lockContents(tx, organizationId, ids)
  const deleted = await deleteUnusedContents(tx, organizationId, ids)
  await releaseFiles(
    tx,
    organizationId,
    deleted.flatMap(({ details, storedUntil }) => (storedUntil ? filesOf(details).map(({ fileId }) => fileId) : [])),
  )
  const isOther = ({ email }: { email: string }) => email.toLowerCase() !== emailKey
  for (const { id, details } of shared) {
    const [to, cc] = [details.to.filter(isOther), details.cc.filter(isOther)]
    const isInHeader = details.raw?.headers.toLowerCase().includes(emailKey) ?? false
    if (isInHeader || to.length + cc.length < details.to.length + details.cc.length)
      await updateDetails(tx, organizationId, id, { ...details, to, cc, raw: withRecipients(details.raw, { to, cc }) })
  }
}

/** Returns the source with a header that shows only these recipients. */
function withRecipients(raw: RawSource | null, shown: Pick<ContentDetails, 'to' | 'cc'>): RawSource | null {
  const fields = raw && parseHeaderFields(raw.headers.trimEnd())
  if (!fields) return raw
  const others = fields.filter(({ name }) => name !== 'to' && name !== 'cc').map(({ source }) => source)
  return { ...raw, headers: [...others, ...shownHeaders(shown)].map((line) => `${line}\r\n`).join('') }
}
