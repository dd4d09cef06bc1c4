import { readOfOperator } from '../../platform/db/cluster/operator-copy.ts'
import type { Db } from '../../platform/db/db.ts'
import { createCache, getOrFetch, kept, refetch } from '../../platform/runtime/cache.ts'
import { asciiDomain, domainOfAddress } from '../../platform/values/domain.ts'
import { hourMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { storableText } from '../../platform/values/text.ts'
import type { Limit } from '../limits/sending-limits.ts'
import { installationId } from '../limits/sending-limits.ts'
import {
  type Deferral,
  deleteOldDomainSites,
  findOperator,
  recordDeferral,
  type SiteSettings,
  selectSites,
} from './receiving-sites.sql.ts'
import { shippedSite, siteName } from './shipped-sites.ts'
import type { SiteLookup } from './site-lookup.ts'

const organizationsMax = 10_000
/** How long a change of the limits may go unnoticed. */
const recentMs = 10_000
/** A site that defers email because of its rate gets this share of its rate, for this time. */
const slowedShare = 0.1
const slowedMinutes = 90
/** The rate from which a site without a limit is slowed down. */
const unlistedPerSecond = 10
/** Deferrals of a site that are recorded at once, and how long further ones are not. */
const deferralsMax = 2
const deferralsEveryMs = hourMs / 60
const deferringMax = 1_000
const reasonCharactersMax = 500
const keptDays = 7

type Sites = ReadonlyMap<string, SiteSettings>
const nothingSet: Sites = new Map()

/** An email to be sent: the organization that sends it, and the one whose mail server carries it. */
export type Delivery = {
  organizationId: OrganizationId
  /** Undefined for the mail server of the installation. */
  serverOrganizationId: OrganizationId | undefined
  address: string
}

/**
 * The limits of the sites that receive email. Each organization sets those of its mail servers. Those of the operator apply to the
 * mail server of the installation, and are the defaults of all others.
 */
export class ReceivingSites {
  readonly #db: Db
  readonly #lookup: SiteLookup
  readonly #settings = createCache<OrganizationId, Sites>(organizationsMax, {
    ttl: recentMs,
    allowStale: true,
    fetchMethod: (organizationId) => this.#find(organizationId),
  })
  readonly #deferring = createCache<string, number>(deferringMax, { ttl: deferralsEveryMs })
  /** Changes when the organization of the operator is deleted. */
  readonly #findOperator: () => Promise<OrganizationId | undefined>
  #operator: OrganizationId | undefined

  constructor(db: Db, lookup: SiteLookup) {
    this.#db = db
    this.#findOperator = kept(recentMs, async () => (await findOperator(db))?.id)
    this.#lookup = lookup
  }

  /** Returns a promise only if something has to be looked up. */
  limitsFor(delivery: Delivery): readonly Limit[] | Promise<readonly Limit[]> {
    const domain = domainOf(delivery.address)
    const site = this.#lookup.find(delivery.organizationId, domain)
    const loading = this.#load(delivery)
    if (typeof site === 'string' && !loading) return this.#limitsOf(delivery, domain, site)
    return Promise.all([site, loading]).then(([found]) => this.#limitsOf(delivery, domain, found))
  }

  /**
   * A site has deferred an email because of its rate or reputation. If this happens twice within an hour, it is slowed down for the
   * email of this organization. If the mail server belongs to others and `isCertain` is true, it is slowed down for all that use it
   * when it has deferred email of two organizations.
   */
  async deferred(delivery: Delivery, reason: string, { isCertain }: { isCertain: boolean }): Promise<void> {
    const site = await this.#lookup.find(delivery.organizationId, domainOf(delivery.address))
    await this.#load(delivery)
    const { organizationId: sentBy } = delivery
    const owner = this.#ownerOf(delivery)
    const text = storableText(reason, reasonCharactersMax)
    await this.#record({ organizationId: sentBy, sentBy, site, reason: text })
    if (isCertain && owner !== sentBy && owner !== installationId)
      await this.#record({ organizationId: owner, sentBy, site, reason: text })
  }

  async #record(deferral: Deferral): Promise<void> {
    const { organizationId, sentBy, site } = deferral
    const key = `${organizationId} ${sentBy} ${site}`
    const count = this.#deferring.get(key) ?? 0
    if (count >= deferralsMax) return
    this.#deferring.set(key, count + 1)
    await recordDeferral(this.#db.statement, deferral, slowedMinutes)
    await this.changed(organizationId)
  }

  /** After a change by this process. */
  async changed(organizationId: OrganizationId): Promise<void> {
    await refetch(this.#settings, organizationId)
  }

  #ownerOf({ serverOrganizationId }: Delivery): OrganizationId {
    return serverOrganizationId ?? this.#operator ?? installationId
  }

  #limitsOf(delivery: Delivery, domain: string, site: string): readonly Limit[] {
    const { organizationId } = delivery
    const owner = this.#ownerOf(delivery)
    const limit = this.#limitOf(owner, domain, site)
    if (owner === organizationId) return limit ? [limit] : []
    // Bounces of an organization slow down only its own email.
    const slowed = this.#sitesOf(organizationId).get(site)
    const limits = limit ? [limit] : []
    if (slowed && isSlowed(slowed)) {
      const perSecond = slowedShare * (limit?.perSecond ?? unlistedPerSecond)
      limits.push({ organizationId, key: keyOf(site), name: nameOf(site), perSecond, perDay: null })
    }
    return limits
  }

  #limitOf(owner: OrganizationId, domain: string, site: string): Limit | undefined {
    const sites = this.#sitesOf(owner)
    const defaults = this.#operator ? this.#sitesOf(this.#operator) : nothingSet
    // What the operator has set for a domain that is not listed concerns only its own recipients.
    const preset = shippedSite(site) && defaults.get(site)
    const set = [sites.get(domain), sites.get(site), preset].find((settings) => settings?.hasLimits)
    const id = set?.site ?? site
    const { messagesPerSecond: rate, messagesPerDay: perDay } = set ?? shippedLimits(site)
    const isSlow = [sites.get(site), sites.get(id)].some((settings) => settings && isSlowed(settings))
    const perSecond = isSlow ? slowedShare * (rate ?? unlistedPerSecond) : rate
    if (perSecond === null && perDay === null) return undefined
    return { organizationId: owner, key: keyOf(id), name: nameOf(id), perSecond, perDay }
  }

  #sitesOf(organizationId: OrganizationId): Sites {
    return this.#settings.get(organizationId) ?? nothingSet
  }

  #load({ organizationId, serverOrganizationId }: Delivery): Promise<unknown> | undefined {
    let missing: Promise<unknown>[] | undefined
    for (const id of [organizationId, serverOrganizationId, this.#operator]) {
      const sites = id && getOrFetch(this.#settings, id)
      if (sites instanceof Promise) missing = [...(missing ?? []), sites]
    }
    return missing && Promise.all(missing)
  }

  async #find(organizationId: OrganizationId): Promise<Sites> {
    const operator = await this.#findOperator()
    if (operator && operator !== this.#operator && operator !== organizationId)
      await getOrFetch(this.#settings, operator)
    this.#operator = operator
    const read = () => selectSites(this.#db, organizationId)
    const isOperator = organizationId === this.#operator
    const rows = await (isOperator ? readOfOperator(this.#db, 'receiving sites', organizationId, read) : read())
    return rows.length === 0 ? nothingSet : new Map(rows.map((row) => [row.site, row]))
  }
}

const keyOf = (site: string) => `site/${site}`
const nameOf = (site: string) => `email to ${siteName(site)}`
const domainOf = (address: string) => {
  const domain = domainOfAddress(address).toLowerCase()
  return asciiDomain(domain) ?? domain
}
const isSlowed = ({ slowedUntil }: SiteSettings) => slowedUntil !== null && slowedUntil.getTime() > Date.now()

export const shippedLimits = (site: string) => ({
  messagesPerSecond: shippedSite(site)?.perSecond ?? null,
  messagesPerDay: null,
})

/** Whether a reply or bounce says that the site wants less email from us, and not that this email is wrong. */
export const isRateDeferral = (status: string | null): boolean => status?.startsWith('4.7.') ?? false

export async function deleteOldSites(db: Db): Promise<void> {
  await deleteOldDomainSites(db.statement, keptDays)
}
