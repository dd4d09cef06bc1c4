import type { Reader, Tx } from '../../platform/db/db.ts'
import { first } from '../../platform/db/rows.ts'
import type { FlowId, ImageId, OrganizationId } from '../../platform/values/ids.ts'
import type { ImageContentType } from '../images/formats.ts'
import type { Font } from './fonts.ts'

export type BrandSettings = {
  name: string | null
  logoImageId: ImageId | null
  color: string | null
  backgroundColor: string | null
  font: Font | null
  postalAddress: string | null
  websiteUrl: string | null
}

export type Brand = BrandSettings & {
  organizationId: OrganizationId
  organizationName: string
  /** Null also if the image was deleted. */
  logo: { id: ImageId; secret: Buffer; contentType: ImageContentType } | null
  /** Null if nothing was ever set. */
  updatedAt: Date | null
}

type Row = BrandSettings & {
  organizationName: string
  updatedAt: Date | null
  secret: Buffer | null
  contentType: ImageContentType | null
}

/** Returns the brand, also if nothing is set, or undefined if the organization does not exist. */
export async function findBrand(db: Reader, organizationId: OrganizationId): Promise<Brand | undefined> {
  const found = await first(db<Row>`
    select organizations.name as organization_name, brands.name, brands.logo_image_id, brands.color, brands.background_color,
      brands.font, brands.postal_address, brands.website_url, brands.updated_at, images.secret, images.content_type
    from organizations
    left join brands on brands.organization_id = organizations.id and brands.organization_id = ${organizationId}
    left join images on images.organization_id = ${organizationId} and images.id = brands.logo_image_id
    where organizations.id = ${organizationId}`)
  if (!found) return undefined
  const { secret, contentType, ...row } = found
  const logo = secret && contentType && row.logoImageId ? { id: row.logoImageId, secret, contentType } : null
  return { ...row, organizationId, logo }
}

export const upsertBrand = (tx: Tx, organizationId: OrganizationId, brand: BrandSettings) =>
  tx`
    insert into brands (organization_id, name, logo_image_id, color, background_color, font, postal_address, website_url)
    values (${organizationId}, ${brand.name}, ${brand.logoImageId}, ${brand.color}, ${brand.backgroundColor}, ${brand.font},
      ${brand.postalAddress}, ${brand.websiteUrl})
    on conflict (organization_id) do update
    set name = excluded.name, logo_image_id = excluded.logo_image_id, color = excluded.color,
      background_color = excluded.background_color, font = excluded.font, postal_address = excluded.postal_address,
      website_url = excluded.website_url, updated_at = excluded.updated_at`

/** Flows that were published with another brand than these values. */
export const selectOutdatedFlows = (db: Reader, organizationId: OrganizationId, values: object, limit: number) =>
  db<{ id: FlowId; name: string }>`
    select flows.id, flows.name from flows
    join flow_versions versions on versions.organization_id = ${organizationId} and versions.id = flows.version_id
    where flows.organization_id = ${organizationId} and flows.deleted_at is null and flows.status <> 'archived'
      and versions.brand is not null and versions.brand <> ${JSON.stringify(values)}::jsonb
    order by flows.id desc
    limit ${limit}`
