import { imageUrlOf } from '../images/address.ts'
import type { Brand } from './brands.sql.ts'
import { defaultBackground, defaultColor, textOn } from './colors.ts'
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
