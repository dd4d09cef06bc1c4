/** The size of a redacted body. A value may exceed it by its own length. */
const outputMax = 4_000
const textMax = 300
const entriesMax = 20
const depthMax = 8
const base64Min = 100

const secretName =
  /secret|token|passw|passphrase|authorization|credential|signature|cookie|api_?key|private_?key|(?:^|[_.-])(?:otp|pin)(?:[_.-]|code|$)|(?:^|verification|confirmation|login|security|auth|access|sms|backup|recovery)[_-]?code$/i
/** Keys, signing secrets and sessions of this service, wherever they are. */
const secretText = /\b(?:wxk_|whsec_)[A-Za-z0-9+/=_-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]+|\bBearer\s+\S+/gi
/** Parameters of addresses, such as `?reset_token=…`. Whether the value is a secret depends on its name alone. */
const secretParameter =
  /([?&#;](?:[\w.-]{0,50}?(?:token|secret|key|sig|passw|auth|session|otp)[\w.-]{0,50}|code|pin)=)[^&#;\s"'<>]+/gi
/** The name and password before the host of an address. */
const userInfo = /(?<=:\/\/)[^\s/?#"'<>]+@/g
const base64 = new RegExp(`^[A-Za-z0-9+/_-]{${base64Min},}={0,2}$`)
const redacted = '[redacted]'

/**
 * Returns the JSON of a request body or query as it may be stored: values of secrets are replaced, long texts, lists and
 * base64 content are shortened. The cost is bounded, whatever the size of the input. Returns null for anything that is no
 * JSON object or array, such as an upload.
 */
export function redact(value: unknown, lengthMax = outputMax): string | null {
  if (!isPlain(value)) return null
  return JSON.stringify(shorten(value, { left: lengthMax }, 0))
}

/** Replaces what looks like a secret of this service or in an address, and shortens the text. */
export const redactText = (text: string, lengthMax = textMax): string => {
  if (text.length >= base64Min && base64.test(text.slice(0, lengthMax))) return `[${text.length} characters of base64]`
  // A secret that is cut must not escape: it is replaced before.
  const start = text.slice(0, lengthMax + secretLengthMax)
  const shown = printable(
    start.replace(userInfo, `${redacted}@`).replace(secretText, redacted).replace(secretParameter, `$1${redacted}`),
  )
  return shown.length > lengthMax || text.length > lengthMax + secretLengthMax ? cut(shown, lengthMax) : shown
}

const secretLengthMax = 200

/**
 * Cuts at the end of a word, so that no part of an email address is left: erasing a contact finds texts by the whole
 * address.
 */
const cut = (text: string, lengthMax: number): string => `${text.slice(0, lengthMax).replace(/[^\s<>"',;:]*$/, '')}…`

/** PostgreSQL cannot store NUL, and other control characters say nothing in a log. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const printable = (text: string): string => text.replace(/[\0-\x08\x0b-\x1f\x7f]/g, '\ufffd')

type Budget = { left: number }

function shorten(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') {
    const text = redactText(value)
    budget.left -= text.length
    return text
  }
  if (!isPlain(value)) return value
  if (depth >= depthMax) return '…'
  return Array.isArray(value) ? shortenList(value, budget, depth) : shortenObject(value, budget, depth)
}

function shortenList(list: readonly unknown[], budget: Budget, depth: number): unknown[] {
  const shown: unknown[] = []
  for (const item of list) {
    if (shown.length >= entriesMax || budget.left <= 0) {
      shown.push(`… ${list.length - shown.length} more`)
      break
    }
    budget.left -= 4
    shown.push(shorten(item, budget, depth + 1))
  }
  return shown
}

function shortenObject(object: object, budget: Budget, depth: number): Record<string, unknown> {
  const shown: [string, unknown][] = []
  // Not all names are collected first: an object may have a hundred thousand.
  for (const name in object) {
    if (shown.length >= entriesMax || budget.left <= 0) {
      shown.push(['…', 'shortened'])
      break
    }
    const shownName = redactText(name, 100)
    budget.left -= shownName.length + 6
    const value = (object as Record<string, unknown>)[name]
    const isSecret = secretName.test(name) && value !== null && typeof value !== 'boolean' && !isStatus(name, value)
    shown.push([shownName, isSecret ? redacted : shorten(value, budget, depth + 1)])
  }
  return Object.fromEntries(shown)
}

/** Each response of the API has its status as `code`. One-time codes have more digits. */
const isStatus = (name: string, value: unknown) => name === 'code' && typeof value === 'number' && value < 600

/** True for objects and arrays as JSON has them; false for streams and buffers. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}
