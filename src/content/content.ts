export type { ContentBase } from './base.ts'
export type { BrandValues } from './brands/brand-values.ts'
export { findBrandValues, getBrand } from './brands/brands.ts'
export { countObjects, eraseObjects } from './files/bucket-cleanup.ts'
export { folderOf, keyOf } from './files/bucket-files.ts'
export type { FileUploadParts, NewFile } from './files/files.ts'
export {
  chunkBytes,
  chunksOf,
  discardUploads,
  downloadFile,
  FileUpload,
  fileIsGone,
  readFile,
  releaseFiles,
  reuseFiles,
  selectOldUploads,
  smallFile,
  smallFileBytesMax,
  sumFileBytes,
  useFiles,
} from './files/files.ts'
export type { Blocker } from './flows/blockers.ts'
export { blockerCodes, findBlockers } from './flows/blockers.ts'
export type { BuiltInFlow } from './flows/built-in-flows.ts'
export { BuiltInFlows } from './flows/built-in-flows.ts'
export { getTestVersion } from './flows/drafts.ts'
export type { EmailCheck, Finding } from './flows/email-checks.ts'
export { linksMax } from './flows/email-checks.ts'
export { BlockerCode, BlockersOut, checkFields } from './flows/flows.shapes.ts'
export { escapeHtml } from './flows/html-entities.ts'
export { toFieldProblems } from './flows/preview.ts'
export type { FlowParts } from './flows/publish.ts'
export type { RecipientSnapshot } from './flows/recipient.ts'
export { recipientOf } from './flows/recipient.ts'
export type { BodyOutputs } from './flows/template.ts'
export type { ReadyVersion, TemplateCache } from './flows/template-cache.ts'
export { withSubject } from './flows/template-cache.ts'
export type { TemplateRunner } from './flows/template-runner.ts'
export type { EmailDraft } from './flows/templates.task.ts'
export { loadHtmlToText } from './flows/text-from-html.ts'
export { hasManyLinks, trackLinks } from './flows/track-links.ts'
export { withUnsubscribeLine } from './flows/unsubscribe-line.ts'
export { UtmIn, UtmOut } from './flows/utm.shapes.ts'
export type { Utm } from './flows/utm.ts'
export { parseUtm, utmQueryOf, withQuery } from './flows/utm.ts'
export type { TemplateValues } from './flows/values.ts'
export { draftValues } from './flows/values.ts'
export type { FilledBody } from './layouts/email-layout.ts'
export { layoutOf } from './layouts/email-layout.ts'
export type { EmailBody, Way } from './layouts/finish-body.ts'
export { finishBody, unsubscribeUrlOf } from './layouts/finish-body.ts'
export { attachmentHeaders } from './mime/attachment-headers.ts'
export type { BodyPart } from './mime/body-parts.ts'
export { BodyPartFinder, describesBody } from './mime/body-parts.ts'
export type { Email, EmailInPieces } from './mime/compose.ts'
export { addedHeaders, compose, composePieces, joined, shownHeaders } from './mime/compose.ts'
export { CrlfStream } from './mime/crlf.ts'
export type { HeaderField } from './mime/header-fields.ts'
export { fieldText, isAscii, parseHeaderFields } from './mime/header-fields.ts'
export type { Mailbox } from './mime/headers.ts'
export {
  dateHeader,
  headerText,
  mailboxHeader,
  newMessageIdHeader,
  textHeader,
  toEmailAddress,
} from './mime/headers.ts'
export type { Piece } from './mime/pieces.ts'
export { base64Lines, bytesOf } from './mime/pieces.ts'
export { quotedPrintable } from './mime/quoted-printable.ts'
