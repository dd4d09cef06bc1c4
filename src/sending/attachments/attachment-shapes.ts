import { Type } from 'typebox'
import { Named } from '../../platform/http/envelope.ts'
import type { Attachment } from './content.ts'

export const AttachmentOut = Named('EmailAttachment', {
  filename: Type.String(),
  content_type: Type.String(),
  size_bytes: Type.Integer(),
  is_stored: Type.Boolean({
    description: 'Whether it can be downloaded. Attachments are kept for 30 days after the email is sent.',
  }),
})

type StoredContent = { attachments: readonly Attachment[]; isStored: boolean }

export const attachmentsOut = (content: StoredContent | undefined) =>
  (content?.attachments ?? []).map(({ filename, contentType, bytes }) => ({
    filename,
    content_type: contentType,
    size_bytes: bytes,
    is_stored: content?.isStored ?? false,
  }))
