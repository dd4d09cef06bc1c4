import { decodeWords } from 'postal-mime'
import { fieldText, type HeaderField } from '../../content/content.ts'
import { Refusal } from '../../platform/values/errors.ts'

/** What the headers `X-Waxwing-…` of an email ask for. They are not sent. */
export type Controls = {
  flow: { id: string; context: Record<string, unknown> } | null
  kind: 'transactional' | 'marketing'
  tags: { name: string; value: string }[]
  tracking: { opens: boolean; clicks: boolean }
}

const prefix = 'x-waxwing-'
/** Written as in the documentation. */
const names = {
  'x-waxwing-flow': 'X-Waxwing-Flow',
  'x-waxwing-context': 'X-Waxwing-Context',
  'x-waxwing-kind': 'X-Waxwing-Kind',
  'x-waxwing-tags': 'X-Waxwing-Tags',
  'x-waxwing-track': 'X-Waxwing-Track',
} as const
type Name = keyof typeof names
/** Added to sent emails for some providers. An email that is forwarded may have it. */
const idName = 'x-waxwing-id'

/** Decoding words takes a millisecond for 4 KiB. JSON needs none: it has escape sequences for all characters. */
const encodedLengthMax = 8 * 1024

const problem = (name: string, text: string) => new Refusal('validation_failed', `${name} ${text}`)

/** Throws `Refusal` if such a header is unknown or invalid, because the email would not be sent as intended. */
export function readControls(fields: readonly HeaderField[]): Controls {
  const values = new Map<Name, string>()
  let encodedLeft = encodedLengthMax
  for (const { name, value } of fields) {
    if (!name.startsWith(prefix) || name === idName) continue
    if (!isName(name)) throw problem(name, 'is not a header that Waxwing knows.')
    if (values.has(name)) throw problem(names[name], 'must occur once.')
    const isEncoded = value.includes('=?')
    if (isEncoded) encodedLeft -= value.length
    if (encodedLeft < 0)
      throw problem(names[name], `must have at most ${encodedLengthMax / 1024} KiB of encoded words.`)
    values.set(name, (isEncoded ? decodeWords(fieldText(value)) : fieldText(value)).trim())
  }
  const flow = values.get('x-waxwing-flow')
  const other = (['x-waxwing-kind', 'x-waxwing-track'] as const).find((name) => values.has(name))
  if (flow !== undefined && other)
    throw problem(names[other], 'cannot be combined with X-Waxwing-Flow: the flow decides it.')
  if (flow === undefined && values.has('x-waxwing-context'))
    throw problem(names['x-waxwing-context'], 'requires X-Waxwing-Flow.')
  return {
    flow: flow === undefined ? null : { id: flow, context: readContext(values.get('x-waxwing-context')) },
    kind: readKind(values.get('x-waxwing-kind')),
    tags: readTags(values.get('x-waxwing-tags')),
    tracking: readTracking(values.get('x-waxwing-track')),
  }
}

const isName = (name: string): name is Name => name in names

/** Returns true for headers that are not sent. */
export const isControl = ({ name }: HeaderField): boolean => name.startsWith(prefix)

function readContext(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {}
  throw problem(names['x-waxwing-context'], 'must be a JSON object.')
}

function readKind(text: string | undefined): Controls['kind'] {
  const kind = text?.toLowerCase() ?? 'transactional'
  if (kind !== 'transactional' && kind !== 'marketing')
    throw problem(names['x-waxwing-kind'], 'must be transactional or marketing.')
  return kind
}

function readTracking(text: string | undefined): Controls['tracking'] {
  const wanted = listOf(text).map((item) => item.toLowerCase())
  if (wanted.some((item) => !['opens', 'clicks', 'none'].includes(item)))
    throw problem(names['x-waxwing-track'], 'must be opens, clicks, both separated by a comma, or none.')
  return { opens: wanted.includes('opens'), clicks: wanted.includes('clicks') }
}

/** `order=1042, shop=vienna`. Whether the names and values are allowed is checked when the email is accepted. */
function readTags(text: string | undefined): Controls['tags'] {
  return listOf(text).map((item) => {
    const at = item.indexOf('=')
    if (at < 1) throw problem(names['x-waxwing-tags'], 'must be a list such as order=1042, shop=vienna.')
    return { name: item.slice(0, at).trim(), value: item.slice(at + 1).trim() }
  })
}

const listOf = (text = '') =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
