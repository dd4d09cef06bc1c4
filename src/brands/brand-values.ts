import { imageUrlOf } from '../images/address.ts'
import type { Brand } from './brands.sql.ts'
import { fontStacks } from './fonts.ts'

/** The fields of `brand` in templates, with what they mean. */
export const brandFields = [
  'name',
  'logo_url',
  'color',
  'text_on_color',
  'background_color',
  'font',
  'address',
  'website_url',
] as const

/** Null: not set. Colours and the font always have a value. */
export type BrandValues = Record<(typeof brandFields)[number], string | null>

export const defaultColor = '#1f5fa3'
export const defaultBackground = '#f2f4f7'

export const brandValuesOf = (brand: Brand, baseUrl: string): BrandValues => ({
  name: brand.name ?? brand.organizationName,
  logo_url: brand.logo && imageUrlOf(baseUrl, { ...brand.logo, organizationId: brand.organizationId }),
  color: brand.color ?? defaultColor,
  text_on_color: textOn(brand.color ?? defaultColor),
  background_color: brand.backgroundColor ?? defaultBackground,
  font: fontStacks[brand.font ?? 'system'],
  address: brand.postalAddress?.split('\n').join(', ') ?? null,
  website_url: brand.websiteUrl,
})

const lightText = '#ffffff'
const darkText = '#101418'

/** Black or white, whichever has more contrast (WCAG 2). */
export function textOn(color: string): string {
  const onLight = (luminanceOf(color) + 0.05) / (luminanceOf(darkText) + 0.05)
  const onDark = (luminanceOf(lightText) + 0.05) / (luminanceOf(color) + 0.05)
  return onDark >= onLight ? lightText : darkText
}

function luminanceOf(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
