/** Only the first recipients of a report are judged. Emails that are sent one by one have a single recipient. */
export const recipientsMax = 10

const addressCharsMax = 320

// Local part: anything except characters that end a word in a notice. Both parts are bounded, so a scan takes linear time.
const address =
  /(?:"[^"\s<>]{1,64}"|[^\s<>()[\]{}"'`,;:\\|@：；，、。（）【】「」《》][^\s<>()[\]{}"`,;:\\|@：；，、。（）【】「」《》]{0,127})@(?:\[[\d.]{7,15}\]|[\p{L}\p{N}](?:[\p{L}\p{N}._-]{0,251}[\p{L}\p{N}])?)/gu

/** The addresses in a piece of text, in lower case and in their order, each once. */
export function findAddresses(text: string): string[] {
  const found = new Set<string>()
  for (const match of text.matchAll(address)) {
    const clean = cleanAddress(match[0])
    if (clean) found.add(clean)
  }
  return [...found]
}

/** One address out of a header field such as `rfc822; <ada@example.com>`, or null. */
export function parseAddressField(value: string): string | null {
  const afterType = value.slice(0, addressCharsMax * 2).replace(/^\s*[\w-]{1,20}\s*;/, '')
  return findAddresses(afterType)[0] ?? null
}

function cleanAddress(found: string): string | null {
  const plain = found.replace(/^[.=*#&!]{1,8}(?=\w)/, '').toLowerCase()
  // `ada@example.com...` of sendmail: the dots end the address, they do not belong to it.
  const dots = plain.indexOf('..', plain.lastIndexOf('@'))
  const end = dots < 0 ? plain : plain.slice(0, dots)
  return end.length <= addressCharsMax && !end.startsWith('@') ? end : null
}
