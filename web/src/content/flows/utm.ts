import type { Utm } from '../../api/types.ts'

export type UtmName = keyof Utm

export const utmTitles: Record<UtmName, { label: string; example: string }> = {
  source: { label: 'Source', example: 'newsletter' },
  medium: { label: 'Medium', example: 'email' },
  campaign: { label: 'Campaign', example: 'spring-sale' },
  content: { label: 'Content', example: 'header-link' },
}
const names = Object.keys(utmTitles) as UtmName[]

/** As typed. */
export const typedUtm = (utm: Utm | null): Record<UtmName, string> =>
  Object.fromEntries(names.map((name) => [name, utm?.[name] ?? ''])) as Record<UtmName, string>

/** Null if nothing was typed. */
export function utmOf(typed: Record<UtmName, string>): Utm | null {
  if (names.every((name) => typed[name].trim() === '')) return null
  return Object.fromEntries(names.map((name) => [name, typed[name] || null])) as Utm
}

/** What is added to links. */
export const utmQuery = (utm: Partial<Record<UtmName, string | null>> | null): string =>
  names
    .flatMap((name) => {
      const value = utm?.[name]?.trim()
      return value ? `utm_${name}=${encodeURIComponent(value)}` : []
    })
    .join('&')
