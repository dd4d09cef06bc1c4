import type { Reader } from '../db/db.ts'
import type { OrganizationId } from '../values/ids.ts'
import { findOperator, type SiteLimits, type SiteSettings, selectSites } from './receiving-sites.sql.ts'
import { shippedLimits } from './receiving-sites.ts'
import { shippedSite, shippedSites, siteName } from './shipped-sites.ts'

/** A site as an organization sees it. */
export type SiteView = SiteLimits & {
  site: string
  name: string
  domains: readonly string[]
  mxSuffixes: readonly string[]
  isChanged: boolean
  defaults: SiteLimits
  slowedUntil: Date | null
  slowedReason: string | null
}

type AllSettings = { sites: Map<string, SiteSettings>; defaults: Map<string, SiteSettings> }

/** The listed sites in their order, then the domains that the organization has set limits for. */
export async function listSites(db: Reader, organizationId: OrganizationId): Promise<SiteView[]> {
  const settings = await readSettings(db, organizationId)
  const ids = new Set([...shippedSites.map(({ id }) => id), ...settings.sites.keys()])
  return [...ids].map((site) => viewOf(site, settings))
}

export const siteView = async (db: Reader, organizationId: OrganizationId, site: string): Promise<SiteView> =>
  viewOf(site, await readSettings(db, organizationId))

async function readSettings(db: Reader, organizationId: OrganizationId): Promise<AllSettings> {
  const operator = await findOperator(db)
  const bySite = (rows: SiteSettings[]) => new Map(rows.map((row) => [row.site, row]))
  const sites = bySite(await selectSites(db, organizationId))
  const isOperator = !operator || operator.id === organizationId
  const set = isOperator ? [] : (await selectSites(db, operator.id)).filter(({ hasLimits }) => hasLimits)
  return { sites, defaults: bySite(set) }
}

function viewOf(site: string, { sites, defaults: set }: AllSettings): SiteView {
  const settings = sites.get(site)
  const shipped = shippedSite(site)
  const defaults = limitsOf((shipped && set.get(site)) ?? shippedLimits(site))
  const isChanged = settings?.hasLimits ?? false
  return {
    site,
    name: siteName(site),
    domains: shipped?.domains ?? [],
    mxSuffixes: shipped?.mxSuffixes ?? [],
    ...(isChanged && settings ? limitsOf(settings) : defaults),
    isChanged,
    defaults,
    slowedUntil: settings?.slowedUntil ?? null,
    slowedReason: settings?.slowedReason ?? null,
  }
}

const limitsOf = ({ messagesPerSecond, messagesPerDay }: SiteLimits): SiteLimits => ({
  messagesPerSecond,
  messagesPerDay,
})
