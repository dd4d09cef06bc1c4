const pattern = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Returns the time of an RFC 3339 timestamp, such as 2026-03-02T09:30:00+01:00, cut off to milliseconds. Returns
 * undefined if the text is none, has no offset, or names a day or an hour that does not exist.
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = pattern.exec(text)
  if (!match) return undefined
  const [, date, time, fraction = ''] = match
  // Date.parse reads February 30 as March 1 or 2.
  const local = new Date(`${date}T${time}Z`)
  if (Number.isNaN(+local) || local.toISOString().slice(0, 19) !== `${date}T${time}`) return undefined
  const offset = /[+-]\d{2}:\d{2}$/.exec(text)?.[0] ?? 'Z'
  return new Date(`${date}T${time}${fraction.slice(0, 4)}${offset}`)
}

export const timestampProblem = 'must be an RFC 3339 time with an offset, for example 2026-03-02T09:30:00Z'
