import { type BrandValues, brandFields } from '../brands/brand-values.ts'
import { piecesOf } from './liquid/liquid.ts'

/** A text in quotes, or a field of `brand` that is not part of a longer path. */
const quotedOrField = new RegExp(`"[^"]*"|'[^']*'|(?<![\\w.-])brand\\.(${brandFields.join('|')})(?![\\w.\\[-])`, 'g')

export const readsBrand = (source: string): boolean => source.includes('brand.')
export const readsAddress = (source: string): boolean => /\bbrand\.address\b/.test(source)

/**
 * Returns the template with the values of the brand instead of `brand.…`. So they cost nothing when an email is rendered,
 * and an email that is sent again has the same bytes although the brand has changed.
 */
export function withBrand(source: string, brand: BrandValues | null): string {
  if (!brand || !readsBrand(source)) return source
  return piecesOf(source)
    .map(({ kind, text }) =>
      kind === 'text'
        ? text
        : text.replace(quotedOrField, (found, field?: keyof BrandValues) => (field ? literalOf(brand[field]) : found)),
    )
    .join('')
}

/** Strings of Liquid have no escapes. Settings contain neither braces nor line breaks. */
function literalOf(value: string | null): string {
  if (value === null) return 'nil'
  return value.includes('"') ? `'${value.replaceAll("'", '’')}'` : `"${value}"`
}
