import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Reader } from '../../platform/db/db.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import { rememberLast } from '../../platform/runtime/remember-last.ts'
import { within } from '../../platform/runtime/within.ts'
import { hostOf } from '../../platform/values/domain.ts'
import { hourMs } from '../../platform/values/durations.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { selectHosts } from './domains.sql.ts'

/** How long a change that another process made may go unnoticed. */
const keptMs = 10_000
/** While the database is slow, the last list is used. */
const waitMs = 100
/** About 15 MB of memory. Further hosts are not known. */
const hostsMax = 100_000
/**
 * Certificates for hosts of one organization that are new on a day. With a wildcard record, labels can be changed without end,
 * and certificate authorities limit the orders of the account of the operator.
 */
const newHostsMax = 100
const newHostsMs = 24 * hourMs
const countedOrganizationsMax = 10_000

/**
 * The hosts of links and their organizations. All of them are kept in memory, so that requests with unknown host names,
 * however many, cause one query in ten seconds, and none if every request names the host of the installation.
 */
export class TrackingHosts {
  readonly #db: Reader
  readonly #baseUrl: () => string
  #organizations: ReadonlyMap<string, OrganizationId> = new Map()
  /** New hosts beyond the limit of their organization: links work, but no certificate is requested. */
  #withheld: ReadonlySet<string> = new Set()
  readonly #newHosts = createCache<OrganizationId, { count: number }>(countedOrganizationsMax, { ttl: newHostsMs })
  #isRead = false
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<true> | undefined

  constructor(db: Reader, baseUrl: () => string) {
    this.#db = db
    this.#baseUrl = baseUrl
  }

  get #baseHost(): string {
    return baseHostOf(this.#baseUrl())
  }

  /** Returns undefined if the host is not registered. Returns a promise only if the list has to be read. */
  organizationAt(host: string): OrganizationId | undefined | Promise<OrganizationId | undefined> {
    if (host === this.#baseHost || !isDomain(host)) return undefined
    if (performance.now() - this.#readAt < keptMs) return this.#find(host)
    return this.#read().then(() => this.#find(host))
  }

  /** Whether links may have this host, which therefore needs a certificate, and its organization may get one. */
  async needsCertificate(host: string): Promise<boolean> {
    if (plainHost(host) === this.#baseHost) return true
    return (await this.organizationAt(host)) !== undefined && !this.#withheld.has(plainHost(host))
  }

  /** Called after a change of this process. */
  forget(): void {
    this.#readAt = Number.NEGATIVE_INFINITY
    this.#reading = undefined
  }

  #find(host: string): OrganizationId | undefined {
    const plain = plainHost(host)
    return plain === this.#baseHost ? undefined : this.#organizations.get(plain)
  }

  async #read(): Promise<void> {
    this.#reading ??= this.#start()
    if (!(await within(waitMs, this.#reading))) this.#readAt = performance.now()
  }

  #start(): Promise<true> {
    const reading = selectHosts(this.#db, hostsMax)
      .then(
        (rows) => new Map(rows.map(({ host, organizationId }) => [host, organizationId])),
        () => undefined,
      )
      .then((organizations) => {
        // Something was changed after the query began.
        if (this.#reading !== reading) return true as const
        this.#reading = undefined
        this.#readAt = performance.now()
        if (organizations) this.#replace(organizations)
        return true as const
      })
    return reading
  }

  #replace(organizations: ReadonlyMap<string, OrganizationId>): void {
    const withheld = new Set<string>()
    // Which hosts are new is not known after a start.
    if (this.#isRead)
      for (const [host, organizationId] of organizations) {
        const isKnown = this.#organizations.has(host) && !this.#withheld.has(host)
        if (!isKnown && !this.#countNew(organizationId)) withheld.add(host)
      }
    this.#organizations = organizations
    this.#withheld = withheld
    this.#isRead = true
  }

  /** Returns false if the organization has had too many new hosts. A host that was released counts as well. */
  #countNew(organizationId: OrganizationId): boolean {
    const counted = this.#newHosts.get(organizationId)
    if (!counted) this.#newHosts.set(organizationId, { count: 1 })
    else if (counted.count >= newHostsMax) return false
    else counted.count++
    return true
  }
}

/** Returns up to `limit` hosts of all organizations. */
export const listTrackingHosts = async (db: Reader, limit: number): Promise<string[]> =>
  (await selectHosts(db, limit)).map(({ host }) => host)

const baseHostOf = rememberLast((url: string) => hostOf(new URL(url)))

/** Host names are case-insensitive and may end with a dot. */
const plainHost = (host: string) => host.toLowerCase().replace(/\.$/, '')

/** False for addresses, and for names of the local network, which no link has. */
const isDomain = (host: string) => host.includes('.') && !/[\d\]]$/.test(host)

declare module 'fastify' {
  interface FastifyRequest {
    /** The organization to whose host of links the request was sent, if any. */
    linkHostOrganization: OrganizationId | null
  }
  interface FastifyContextConfig {
    /** Whether the route is also served at the hosts of organizations. Only for what emails link to. */
    onTrackingHosts?: boolean
  }
}

/** Whether the request was sent to the host of another organization. */
export const isHostOfAnother = (
  { linkHostOrganization }: Pick<FastifyRequest, 'linkHostOrganization'>,
  organizationId: string,
) => linkHostOrganization !== null && linkHostOrganization !== organizationId

/**
 * Serves only links of emails at the hosts of organizations. An organization could otherwise show our sign-in page under
 * its name.
 */
export function restrictTrackingHosts(hosts: TrackingHosts): onRequestHookHandler {
  return (request, _reply, done) => {
    const admit = (organizationId: OrganizationId | undefined) => {
      if (organizationId === undefined) return done()
      request.linkHostOrganization = organizationId
      done(request.routeOptions.config.onTrackingHosts ? undefined : new Refusal('not_found', 'Not found.'))
    }
    const found = hosts.organizationAt(request.hostname)
    if (found instanceof Promise) found.then(admit, done)
    else admit(found)
  }
}
