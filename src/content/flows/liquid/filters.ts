import { type Context, Drop, type FilterImplOptions, filters as known } from 'liquidjs'
import type { Budget } from '../budget.ts'
import { escapeHtml, escapeHtmlOnce } from '../html-entities.ts'
import { jsonOf, textOf } from './text-of.ts'

// Filters of the engine that are not available: those that evaluate text as code (`where_exp` and similar), random ones
// (`sample`), those with unbounded cost (`inspect`), and aliases.
const kept = `
  abs at_least at_most ceil divided_by floor minus plus modulo times round
  url_decode url_encode uri_escape slugify
  join last first reverse sort sort_natural size map sum compact concat push unshift pop shift slice where reject
  group_by has find_index find uniq
  date date_to_xmlschema date_to_rfc822 date_to_string date_to_long_string
  append prepend lstrip downcase upcase remove remove_first remove_last rstrip split strip strip_newlines squish
  capitalize replace replace_first replace_last truncate truncatewords normalize_whitespace number_of_words
  array_to_sentence_string
  base64_encode base64_decode sha256 hmac_sha256
  strip_html default to_integer`
  .trim()
  .split(/\s+/)

// A text search may compare every position with the whole search term.
const searching = new Set([
  'remove',
  'remove_first',
  'remove_last',
  'split',
  'replace',
  'replace_first',
  'replace_last',
])
const searchUnitsPerPair = 1 / 16
// These read a property of each element in a new context, which takes about 4 µs.
const visiting = new Set(['where', 'reject', 'group_by', 'has', 'find_index', 'find'])
const visitUnits = 400
// Names of days and months create a platform formatter per code (100 µs), and a time zone another (300 µs).
const dateUnits = 1_000
const dateCodeUnits = 500
const localeCodeUnits = 10_000
const timeZoneUnits = 30_000
const localeCodes = /%[-_0^#:]*\d*[aAbBhcpPxXZ]/g
const localeFilters = new Set(['date_to_rfc822', 'date_to_string', 'date_to_long_string'])
const dateFormatLengthMax = 100

/** The text stored by `{% capture %}`. It was escaped when captured, so it is output as it is. */
export class Captured extends Drop {
  readonly #text: string
  constructor(text: string) {
    super()
    this.#text = text
  }
  get size(): number {
    return this.#text.length
  }
  override valueOf(): string {
    return this.#text
  }
}

export const budgetOf = (context: Context): Budget => context.memoryLimit as unknown as Budget

type Handler = (this: { context: Context }, value: unknown, ...parameters: unknown[]) => unknown
type CustomFilter = (budget: Budget, value: unknown) => string

/** Returns the filters of an engine. Those that produce HTML have no effect in text. */
export function filtersFor(output: 'html' | 'text'): Record<string, FilterImplOptions> {
  const custom = (make: CustomFilter, isFinal: boolean): FilterImplOptions => ({
    raw: isFinal,
    handler: metered('', customHandler(make)),
  })
  const inHtml = (make: (text: string) => string) =>
    custom((budget, value) => (output === 'html' ? make(textOf(value, budget)) : textOf(value, budget)), true)
  const filters: Record<string, FilterImplOptions> = {
    raw: custom((budget, value) => textOf(value, budget), true),
    json: custom((budget, value) => jsonOf(value, budget), false),
    escape: inHtml(escapeHtml),
    escape_once: inHtml(escapeHtmlOnce),
    newline_to_br: inHtml((text) => escapeHtmlOnce(text).replace(/\r?\n/g, '<br />\n')),
  }
  for (const name of kept) filters[name] = metered(name, known[name] as Handler)
  return filters
}

const customHandler = (make: CustomFilter): Handler =>
  function (value) {
    return make(budgetOf(this.context), value)
  }

function metered(name: string, handler: Handler): Handler {
  return function (given, ...givenParameters) {
    const budget = budgetOf(this.context)
    const value = plain(given)
    const parameters = givenParameters.map(plain)
    budget.call([value, ...parameters])
    if (searching.has(name)) countSearch(budget, value, parameters[0])
    if (visiting.has(name) && Array.isArray(value)) budget.use(value.length * visitUnits)
    if (name.startsWith('date')) countDate(budget, name, parameters)
    const result = handler.call(this, isNow(name, value) ? new Date(budget.time) : value, ...parameters)
    if (typeof result === 'string') budget.use(result.length)
    return result
  }
}

/** A message that is sent again must have the same bytes, so "now" is not read from the clock. */
const isNow = (name: string, value: unknown): boolean =>
  name.startsWith('date') && (value === 'now' || value === 'today')

const plain = (value: unknown): unknown => (value instanceof Captured ? value.valueOf() : value)

export function countSearch(budget: Budget, text: unknown, sought: unknown): void {
  if (typeof text === 'string' && typeof sought === 'string')
    budget.use(text.length * sought.length * searchUnitsPerPair)
}

function countDate(budget: Budget, name: string, [format, timeZone]: readonly unknown[]): void {
  // `date_to_string` and similar filters take a style instead of a format. Without a format, `date` outputs names of
  // days and months.
  const isFormat = name === 'date' && typeof format === 'string'
  if (isFormat && format.length > dateFormatLengthMax)
    throw new Error(`a date format exceeds ${dateFormatLengthMax} characters`)
  const named = isFormat ? (format.match(localeCodes)?.length ?? 0) : name === 'date' || localeFilters.has(name) ? 2 : 0
  const codes = isFormat ? format.length / 2 : 8
  budget.use(dateUnits + codes * dateCodeUnits + named * localeCodeUnits + (timeZone === undefined ? 0 : timeZoneUnits))
}
