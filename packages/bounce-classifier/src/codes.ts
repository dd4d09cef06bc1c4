// RFC 3463: class, subject, detail. Not part of a longer number, an IP address or a version.
const status = /(?<![\w.])([245])\.([0-7])\.(\d{1,3})(?![.\d]*\d)/g

/** Returns the first status with a detail, else the first status, else null. */
export function findStatus(text: string): string | null {
  let vague: string | null = null
  for (const match of text.matchAll(status)) {
    const found = `${match[1]}.${match[2]}.${Number(match[3])}`
    if (!isVague(found)) return found
    vague ??= found
  }
  return vague
}

/** `5.0.0` has no more meaning than a reply code. */
export const isVague = (found: string) => /^[245]\.0\.0$/.test(found)

/** The first SMTP reply that refuses: relays quote it before a blank, a hyphen, a `#`, a colon or at the end. */
export function findReplyCode(text: string): number | null {
  const code = /(?<![\w.\-/@#:=])(4[2-5]\d|5[0-57]\d)(?=[ \-#:)]|$)/m.exec(text)?.[1]
  return code ? Number(code) : null
}
