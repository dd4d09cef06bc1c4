import { type Static, Type } from 'typebox'
import type { NewFile } from '../../content/content.ts'
import { Nullable } from '../../platform/http/envelope.ts'
import { invalid } from '../../platform/values/errors.ts'
import { isLongerThan, isStorable, unstorableProblem } from '../../platform/values/text.ts'
import type { Attachment } from '../attachments/content.ts'

const attachmentsMax = 20
const megabyte = 1024 * 1024
export const attachmentBytesMax = 10 * megabyte
/** In base64 about 20.5 MB, so that the email stays below the 25 MB that most mail servers accept. */
const allBytesMax = 15 * megabyte
const filenameLengthMax = 200
export const attachmentLimits = 'At most 20 files of 10 MB each, and 15 MB together.'

export const AttachmentIn = Type.Object(
  {
    filename: Type.String({ description: `A name of at most ${filenameLengthMax} characters, without a path.` }),
    content: Type.Unsafe<string>({
      type: 'string',
      format: 'byte',
      description: `The file in base64. URLs are not supported: the service fetches nothing on behalf of a caller.`,
    }),
    content_type: Type.Optional(
      Nullable(Type.String({ description: 'For example `application/pdf`. Derived from the file name by default.' })),
    ),
    content_id: Type.Optional(
      Nullable(Type.String({ description: 'Shows an image in the HTML: `logo` for `<img src="cid:logo">`.' })),
    ),
  },
  { title: 'AttachmentInput' },
)

/** The file of an attachment by the value of its field `content`. `problem`: why it is not a file. */
export type ReceivedFiles = (content: string) => { file: NewFile } | { problem: string }

/** Throws `Refusal` if an attachment is invalid. */
export function attachmentsOf(
  inputs: readonly Static<typeof AttachmentIn>[],
  received: ReceivedFiles,
): { attachments: Attachment[]; used: NewFile[] } {
  if (inputs.length > attachmentsMax)
    throw invalid({ path: 'attachments', problem: `must have at most ${attachmentsMax} elements` })
  const used: NewFile[] = []
  let all = 0
  const attachments = inputs.map((input, index): Attachment => {
    const path = `attachments.${index}`
    checkNoUrl(path, input)
    const found = received(input.content)
    if ('problem' in found) throw invalid({ path: `${path}.content`, problem: found.problem })
    const { file } = found
    if (file.bytes > attachmentBytesMax) throw invalid({ path: `${path}.content`, problem: tooLarge })
    all += file.bytes
    if (all > allBytesMax)
      throw invalid({ path: 'attachments', problem: `must have at most ${allBytesMax / megabyte} MB together` })
    used.push(file)
    return {
      fileId: file.id,
      filename: checkFilename(`${path}.filename`, input.filename),
      contentType: checkContentType(`${path}.content_type`, input.content_type ?? typeOf(input.filename)),
      contentId: checkContentId(`${path}.content_id`, input.content_id ?? null),
      bytes: file.bytes,
    }
  })
  return { attachments, used }
}

export const tooLarge = `must have at most ${attachmentBytesMax / megabyte} MB`

const urlFields = ['path', 'url', 'href'] as const

export function checkNoUrl(path: string, input: object): void {
  const field = urlFields.find((name) => name in input)
  if (field)
    throw invalid({
      path: `${path}.${field}`,
      problem: 'is not supported: the service does not fetch files. Send the file in content, in base64',
    })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
/** Characters that change the direction of text can hide the extension of a file. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

function checkFilename(path: string, filename: string): string {
  const wrong = (problem: string) => invalid({ path, problem })
  if (filename.trim() === '') throw wrong('must not be empty')
  if (isLongerThan(filename, filenameLengthMax)) throw wrong(`must have at most ${filenameLengthMax} characters`)
  if (/[/\\]/.test(filename) || filename === '.' || filename === '..') throw wrong('must not contain a path')
  if (controls.test(filename) || directions.test(filename)) throw wrong('must not contain control characters')
  if (!isStorable(filename)) throw wrong(unstorableProblem)
  return filename
}

const token = '[\\w!#$&^.+-]{1,100}'
/** With parameters, as in `text/calendar; method=REQUEST`. */
const contentTypePattern = new RegExp(`^${token}/${token}(?:; ?${token}=(?:${token}|"[\\w !#$&^.+/:@-]{0,100}"))*$`)
const contentTypeLengthMax = 255

function checkContentType(path: string, contentType: string): string {
  if (contentType.length > contentTypeLengthMax || !contentTypePattern.test(contentType))
    throw invalid({ path, problem: 'must be a media type such as application/pdf' })
  // These are not encoded in base64.
  if (/^(?:multipart|message)\//i.test(contentType))
    throw invalid({ path, problem: 'must not be a multipart or message type' })
  return contentType
}

function checkContentId(path: string, contentId: string | null): string | null {
  if (contentId === null) return null
  if (!/^[\w!#$%&'*+/=?^`{|}~.@-]{1,128}$/.test(contentId))
    throw invalid({ path, problem: 'must consist of 1 to 128 letters, digits and characters such as - _ . @' })
  return contentId
}

const types: Record<string, string> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  html: 'text/html',
  ics: 'text/calendar',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml',
  zip: 'application/zip',
}

const typeOf = (filename: string): string =>
  types[filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream'
