import type { Db, Reader } from '../../platform/db/db.ts'
import { existing, invalid } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { isStorable, unstorableProblem } from '../../platform/values/text.ts'
import { getImage } from '../images/images.ts'
import { brandValuesOf } from './brand-values.ts'
import { type Brand, type BrandSettings, findBrand, upsertBrand } from './brands.sql.ts'

export type { Brand } from './brands.sql.ts'

/** Throws `Refusal` if the organization does not exist any more. */
export const getBrand = (db: Reader, organizationId: OrganizationId): Promise<Brand> =>
  existing('organization', findBrand(db, organizationId))

export const getBrandValues = async (db: Reader, organizationId: OrganizationId, baseUrl: string) =>
  brandValuesOf(await getBrand(db, organizationId), baseUrl)

/** Returns undefined if nothing was ever set. */
export async function findBrandValues(db: Reader, organizationId: OrganizationId, baseUrl: string) {
  const brand = await findBrand(db, organizationId)
  return brand?.updatedAt ? brandValuesOf(brand, baseUrl) : undefined
}

export type BrandChanges = { [Name in keyof BrandSettings]?: BrandSettings[Name] | undefined }

/** Braces would be read as Liquid, and templates contain these texts. */
const braces = /[{}]/
const linesMax = 6
export const urlLengthMax = 2_048

/** Throws `Refusal` if the logo does not exist or a text is invalid. */
export async function changeBrand(db: Db, organizationId: OrganizationId, changes: BrandChanges): Promise<Brand> {
  return db.begin(async (tx) => {
    const before = await getBrand(tx, organizationId)
    if (changes.logoImageId) await getImage(tx, organizationId, changes.logoImageId)
    const given = <Name extends keyof BrandSettings>(name: Name): BrandSettings[Name] => {
      const change = changes[name]
      return change === undefined ? before[name] : (change as BrandSettings[Name])
    }
    await upsertBrand(tx, organizationId, {
      name: checkText('name', given('name')),
      logoImageId: given('logoImageId'),
      color: given('color')?.toLowerCase() ?? null,
      backgroundColor: given('backgroundColor')?.toLowerCase() ?? null,
      font: given('font'),
      postalAddress: checkLines(given('postalAddress')),
      websiteUrl: checkUrl(given('websiteUrl')),
    })
    return getBrand(tx, organizationId)
  })
}

function checkText(path: string, given: string | null): string | null {
  const text = given?.trim()
  if (!text) return null
  if (!isStorable(text)) throw invalid({ path, problem: unstorableProblem })
  if (braces.test(text)) throw invalid({ path, problem: 'must not contain braces' })
  return text
}

function checkLines(given: string | null): string | null {
  const lines = (given ?? '').split(/\r?\n/).map((line) => line.trim().replace(/,$/, ''))
  const filled = lines.filter((line) => line !== '')
  if (filled.length > linesMax)
    throw invalid({ path: 'postal_address', problem: `must have at most ${linesMax} lines` })
  return checkText('postal_address', filled.join('\n'))
}

/** A domain, as people write it: `example.com/shop`. */
const withoutScheme = /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+(?:[:/?#]|$)/u

function checkUrl(given: string | null): string | null {
  const text = checkText('website_url', given)
  if (text === null) return null
  const address = withoutScheme.test(text) ? `https://${text}` : text
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalid({ path: 'website_url', problem: 'must be a web address, such as https://example.com' })
  if (url.href.length > urlLengthMax)
    throw invalid({ path: 'website_url', problem: `must have at most ${urlLengthMax} characters after encoding` })
  return url.href
}
