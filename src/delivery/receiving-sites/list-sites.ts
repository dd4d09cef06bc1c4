import { readOfOperator } from '../../platform/db/cluster/operator-copy.ts'
import type { Db, Reader } from '../../platform/db/db.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { installationId } from '../limits/sending-limits.ts'
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

type Sites = ReadonlyMap<string, SiteSettings>
type AllSettings = { sites: Sites; defaults: Sites }
const bySite = (rows: readonly SiteSettings[]): Sites => new Map(rows.map((row) => [row.site, row]))

/** The limits that the operator has set, which are the defaults of other organizations. */
export async function findDefaults(db: Db, organizationId: OrganizationId): Promise<Sites> {
  const operator = (await findOperator(db))?.id
  if (!operator || operator === organizationId) return new Map()
  const rows = await readOfOperator(db, 'receiving sites', operator, () => selectSites(db, operator))
  return bySite(rows.filter(({ hasLimits }) => hasLimits))
}

/** Keeps a copy for the time while the node of the operator is down (`readOfOperator`). */
export async function copyDefaults(db: Db): Promise<void> {
  if (db.isDistributed) await findDefaults(db, installationId)
}

/** The listed sites in their order, then the domains that the organization has set limits for. */
export async function listSites(db: Reader, organizationId: OrganizationId, defaults: Sites): Promise<SiteView[]> {
  const sites = bySite(await selectSites(db, organizationId))
  const ids = new Set([...shippedSites.map(({ id }) => id), ...sites.keys()])
  return [...ids].map((site) => viewOf(site, { sites, defaults }))
}

export async function siteView(db: Db, organizationId: OrganizationId, site: string): Promise<SiteView> {
  const defaults = await findDefaults(db, organizationId)
  return viewOf(site, { sites: bySite(await selectSites(db, organizationId)), defaults })
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
