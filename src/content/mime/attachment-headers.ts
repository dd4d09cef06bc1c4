import { headerText } from './headers.ts'

const token = /^[\w!#$%&'*+.^`{|}~-]+$/

/** A parameter in quotes; characters beyond ASCII only in the form of RFC 2231, which all current clients read. */
function parameter(name: string, value: string): string[] {
  const text = headerText(value)
  const ascii = text.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_')
  const plain = `${name}=${token.test(ascii) ? ascii : `"${ascii}"`}`
  return ascii === text ? [plain] : [plain, `${name}*=utf-8''${extended(text)}`]
}

/** RFC 5987: `attr-char`. */
const extended = (text: string) =>
  encodeURIComponent(text.replace(/\p{Surrogate}/gu, '_')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

export type AttachmentHeaders = { filename: string; contentType: string; contentId: string | null }

/** Returns the headers of the part of an attachment in base64. */
export function attachmentHeaders({ filename, contentType, contentId }: AttachmentHeaders): string[] {
  const withParameters = (header: string, name: string) => `${header};\r\n ${parameter(name, filename).join(';\r\n ')}`
  return [
    withParameters(`Content-Type: ${headerText(contentType)}`, 'name'),
    'Content-Transfer-Encoding: base64',
    ...(contentId === null ? [] : [`Content-ID: <${headerText(contentId)}>`]),
    withParameters(`Content-Disposition: ${contentId === null ? 'attachment' : 'inline'}`, 'filename'),
  ]
}
