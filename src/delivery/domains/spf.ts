/** Receivers give up on records that need more. Those of the records that are included count as well, but are not known here. */
const lookUpsMax = 10
const list = new Intl.ListFormat('en')

const isSpf = (text: string) => /^v=spf1(\s|$)/i.test(text)
const termsOf = (record: string): string[] => record.trim().split(/\s+/).slice(1)
const isAll = (term: string) => /^[+?~-]?all$/i.test(term)
const isRedirect = (term: string) => /^redirect=/i.test(term)
const isModifier = (term: string) => /^[a-z][\w.-]*=/i.test(term)
const keyOf = (term: string) => term.toLowerCase().replace(/^\+/, '')
const needsLookUp = (term: string) => /^([+?~-]?(include:|exists:|(a|mx|ptr)([:/]|$))|redirect=)/i.test(term)

/** The mechanisms that receivers read: those before `all`. */
export function mechanismsOf(record: string): string[] {
  const terms = termsOf(record)
  const end = terms.findIndex(isAll)
  return terms.slice(0, end === -1 ? undefined : end).filter((term) => !isModifier(term))
}

/** Splits what a check has found, which is stored as one text. */
export const publishedSpf = (found: string | null | undefined): string[] =>
  (found ?? '').split(/ \/ (?=v=spf1(?:\s|$))/i).filter(isSpf)

/**
 * Returns the record to publish: what is published already, with the mechanisms that the mail servers need, such as
 * `include:amazonses.com`. What it says about everybody else (`all`) stays as it is.
 */
export function mergedSpf(published: readonly string[], sources: readonly string[]): string {
  const terms = published.flatMap(termsOf)
  const end = terms.find(isAll) ?? terms.find(isRedirect) ?? '~all'
  const others = terms.filter((term) => isModifier(term) && !isRedirect(term))
  const mechanisms = new Map<string, string>()
  for (const term of [...published.flatMap(mechanismsOf), ...sources])
    if (!mechanisms.has(keyOf(term))) mechanisms.set(keyOf(term), term)
  return ['v=spf1', ...mechanisms.values(), end, ...others].join(' ')
}

/** Returns what is wrong with the published records, or null if they allow the mail servers. */
export function spfProblem(published: readonly string[], sources: readonly string[]): string | null {
  const merged = mergedSpf(published, sources)
  const lookUps = termsOf(merged).filter(needsLookUp).length
  const tooMany =
    lookUps > lookUpsMax
      ? `The record needs ${lookUps} DNS look-ups, and receivers stop after ${lookUpsMax}. Remove what no longer sends your email.`
      : null
  if (published.length > 1)
    return joined(
      'There are several SPF records. Receivers then ignore all of them; replace them with this one.',
      tooMany,
    )
  const allowed = new Set(published.flatMap(mechanismsOf).map(keyOf))
  const missing = sources.filter((source) => !allowed.has(keyOf(source)))
  return missing.length > 0
    ? joined(
        `The record does not contain ${list.format(missing)}. Replace it with this value, which keeps the rest.`,
        tooMany,
      )
    : tooMany
}

const joined = (...sentences: (string | null)[]) => sentences.filter((sentence) => sentence !== null).join(' ')
