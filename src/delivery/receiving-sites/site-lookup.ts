import { getDomain } from 'tldts'
import type { Db } from '../../platform/db/db.ts'
import type { Batcher } from '../../platform/runtime/batcher.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { Stage } from '../../platform/runtime/stage.ts'
import type { StageRegistry } from '../../platform/runtime/stage-registry.ts'
import { within } from '../../platform/runtime/within.ts'
import { hourMs } from '../../platform/values/durations.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { type Dns, mailHostOf } from '../domains/dns.ts'
import { saveDomainSites, selectDomainSites } from './receiving-sites.sql.ts'
import { siteOfKnownDomain, siteOfMxHost } from './shipped-sites.ts'

const keptMax = 20_000
const keptMs = hourMs
/** A domain whose name servers did not answer is its own site this long. */
const unansweredMs = hourMs / 6
/** How long an email waits for the answer. Then its domain counts as its own site. */
const waitMsMax = 1_000
/** An organization whose recipients have unknown domains with slow name servers does not delay those of others. */
const queries = { perOrganization: 40, overall: 50, waitingPerOrganization: 4_000, waitMs: 30_000 }
/** Further domains are their own sites until others are answered. */
const pendingMax = 10_000
/** If so many queries in a row got no answer, none is asked for a while. */
const unansweredMax = 20
const pauseMs = 30_000
const batchMax = 500
const savePaceMs = 250

/** The answer serves all organizations. The first that asks uses its share. */
type Wanted = { organizationId: OrganizationId; name: string }
type Found = Wanted & { site: string }

/**
 * Finds the site that receives the email of a domain. The answers are shared by all processes and asked again after a day.
 */
export class SiteLookup {
  readonly #dns: Pick<Dns, 'ask'>
  readonly #known = createCache<string, string>(keptMax, { ttl: keptMs })
  readonly #pending = new Map<string, Promise<string>>()
  readonly #reads: Batcher<Wanted, string | undefined>
  readonly #writes: Batcher<Found, void>
  readonly #queries: Stage
  #unanswered = 0
  #pausedUntil = 0

  constructor(db: Db, stages: StageRegistry, dns: Pick<Dns, 'ask'>) {
    this.#dns = dns
    const common = {
      organizationOf: ({ organizationId }: Wanted) => organizationId,
      itemsMax: batchMax,
      waitingPerOrganization: pendingMax / 2,
      waitingMax: 2 * pendingMax,
    }
    this.#queries = stages.stage('receiving site queries', 'peer', queries)
    this.#reads = stages.batcher<Wanted, string | undefined>({
      ...common,
      name: 'find receiving sites',
      run: async (wanted) => {
        const names = wanted.map(({ name }) => name)
        const rows = new Map((await selectDomainSites(db, names)).map(({ name, site }) => [name, site]))
        return names.map((name) => ({ ok: true, value: rows.get(name) }))
      },
    })
    this.#writes = stages.batcher<Found, void>({
      ...common,
      name: 'save receiving sites',
      paceMs: savePaceMs,
      run: async (found) => {
        await saveDomainSites(db.statement, found)
        return found.map(() => ({ ok: true, value: undefined }))
      },
    })
  }

  /** Returns a promise only if the domain has to be looked up. */
  find(organizationId: OrganizationId, domain: string): string | Promise<string> {
    const known = siteOfKnownDomain(domain) ?? this.#known.get(domain)
    if (known !== undefined) return known
    let pending = this.#pending.get(domain)
    if (!pending) {
      if (this.#pending.size >= pendingMax) return domain
      pending = this.#lookUp(organizationId, domain).finally(() => this.#pending.delete(domain))
      this.#pending.set(domain, pending)
    }
    return within(waitMsMax, pending).then((site) => site ?? domain)
  }

  /** Resolves when everything found is stored. */
  async drained(): Promise<void> {
    await Promise.allSettled([...this.#pending.values()])
    await this.#writes.drained()
  }

  async #lookUp(organizationId: OrganizationId, domain: string): Promise<string> {
    // If the database is unavailable, nothing is known.
    const stored = await this.#reads.add({ organizationId, name: domain }).catch(() => domain)
    if (stored !== undefined) return this.#keep(domain, stored)
    // If too many wait, it is asked again later.
    const hosts = await this.#queries.run(organizationId, () => this.#ask(domain)).catch(() => undefined)
    if (!hosts) return this.#keep(domain, domain, unansweredMs)
    const site = siteOf(domain, hosts)
    // If it is not stored, it is asked again.
    this.#writes.add({ organizationId, name: domain, site }).catch(() => {})
    return this.#keep(domain, site)
  }

  #keep(domain: string, site: string, ttl = keptMs): string {
    this.#known.set(domain, site, { ttl })
    return site
  }

  /** Returns the MX hosts, or undefined if nothing is known about them. */
  async #ask(domain: string): Promise<readonly string[] | undefined> {
    if (performance.now() < this.#pausedUntil) return undefined
    const answer = await this.#dns.ask(domain, 'MX')
    if (answer.kind !== 'unanswered') this.#unanswered = 0
    else if (++this.#unanswered >= unansweredMax) this.#pausedUntil = performance.now() + pauseMs
    if (answer.kind === 'unanswered') return undefined
    return answer.kind === 'found' ? answer.values.map(mailHostOf) : []
  }
}

/** Everything that is not listed is called by the registered domain of its first MX host, or its own domain without one. */
function siteOf(domain: string, hosts: readonly string[]): string {
  const [host] = hosts
  if (!host) return domain
  return siteOfMxHost(host) ?? getDomain(host) ?? domain
}
