/** A name has at most 253 characters. Converting a longer one that is not ASCII takes quadratic time. */
const hostLengthMax = 300
/** Like browsers, `URL` skips additional slashes. */
const start = /^https?:\/\/[\\/]*([^\\/?#]*)/i

/** Parses an absolute http address in linear time. Returns undefined if it is not a valid one. */
export function parseWebAddress(address: string): URL | undefined {
  const authority = start.exec(address)?.[1]
  if (authority === undefined) return undefined
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return host.length <= hostLengthMax && URL.canParse(address) ? new URL(address) : undefined
}
