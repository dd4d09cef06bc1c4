const linkLengthMax = 500
const linksKnownMax = 2_000
const hidden = '…'

const known = new Map<string, string | null>()

/**
 * Returns the URL as it is counted: without its fragment, and with an ellipsis in place of ids, tokens and addresses.
 * Such a part is different in every email, so the clicks on it would otherwise be counted one by one, and a token must
 * not be kept as long as a counter. Returns null if it is not a URL.
 */
export function linkOf(url: string): string | null {
  let link = known.get(url)
  if (link === undefined) {
    link = normalize(url)
    if (known.size >= linksKnownMax) known.clear()
    known.set(url, link)
  }
  return link
}

function normalize(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { protocol, host, pathname, search } = new URL(url)
  const path = pathname.split('/').map(withoutPersonal).join('/')
  const query = search.replace(/^\?/, '').split('&').filter(Boolean).map(parameterOf).join('&')
  return `${protocol}//${host}${path}${query && '?'}${query}`.slice(0, linkLengthMax)
}

function parameterOf(parameter: string): string {
  const [name = '', value] = parameter.split(/=(.*)/s)
  return value === undefined ? withoutPersonal(name) : `${name}=${withoutPersonal(value)}`
}

const uuid = /[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}/i
const address = /@|%40/i
const longNumber = /^\d{9,}$/
/** Letters and digits without a separator, as in a token. The words of a slug are shorter. */
const token = /^(?=.*\d)(?=.*[a-z]).{16,}$/i

function withoutPersonal(part: string): string {
  const isPersonal =
    address.test(part) ||
    uuid.test(part) ||
    part.split(/[-_.~+,:;!*()]|%[0-9a-f]{2}/i).some((word) => longNumber.test(word) || token.test(word))
  return isPersonal ? hidden : part
}
