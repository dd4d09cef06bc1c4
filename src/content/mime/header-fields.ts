/** A header field of a received email. Text is in the bytes of the email, one character for each (latin1). */
export type HeaderField = {
  /** In lower case. */
  name: string
  /** Without line breaks. Fields are folded before a space or tab, which stays. */
  value: string
  /** The whole field with its line breaks, without the last one. */
  source: string
}

const fieldPattern = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:[ \t]*/

/** Returns the fields of a header with CRLF line endings, or undefined if one of its lines is not a field. */
export function parseHeaderFields(head: string): HeaderField[] | undefined {
  const fields: HeaderField[] = []
  if (head === '') return fields
  for (const source of head.split(/\r\n(?![ \t])/)) {
    const match = fieldPattern.exec(source)
    if (!match) return undefined
    fields.push({
      name: match[1]!.toLowerCase(),
      value: source.slice(match[0].length).replaceAll('\r\n', '').trim(),
      source,
    })
  }
  return fields
}

/** The bytes of a field as text: UTF-8 (RFC 6532), or else latin1. */
export function fieldText(bytes: string): string {
  if (isAscii(bytes)) return bytes
  const text = Buffer.from(bytes, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? bytes : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes control characters
export const isAscii = (text: string) => /^[\x00-\x7f]*$/.test(text)

export type ParameterizedValue = { value: string; parameters: Map<string, string> }

/** Parses a value such as `text/html; charset="utf-8"`. Continuations and encoded parameters of RFC 2231 are ignored. */
export function parseParameters(text: string): ParameterizedValue {
  const withoutComments = text.replace(/\([^()]*\)/g, ' ')
  const value = /^[^;]*/.exec(withoutComments)![0].trim().toLowerCase()
  const parameters = new Map<string, string>()
  const pattern = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g
  for (const [, name = '', quoted, token = ''] of withoutComments.matchAll(pattern)) {
    const key = name.toLowerCase()
    if (!parameters.has(key)) parameters.set(key, quoted?.replace(/\\(.)/g, '$1') ?? token)
  }
  return { value, parameters }
}
