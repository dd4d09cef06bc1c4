import { createPrivateKey } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import { type DefaultSender, findDefaultSender } from '../../accounts/accounts.ts'
import type { Db, Reader } from '../../platform/db/db.ts'
import { createCache, getOrFetch } from '../../platform/runtime/cache.ts'
import { rememberLast } from '../../platform/runtime/remember-last.ts'
import type { SecretBox } from '../../platform/secrets/secrets.ts'
import { asciiDomain, domainOfAddress } from '../../platform/values/domain.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { createSigner, type DkimSigner } from '../dkim/dkim.ts'
import type { Limit } from '../limits/sending-limits.ts'
import { returnPathHostOf, trackingHostOf } from './domain.ts'
import { findSender, type SenderRow } from './domains.sql.ts'
import { type SenderPolicy, senderNotVerified } from './sender-policy.ts'
import { isUsed } from './transitions.ts'
import { warmUpLimit } from './warm-up.ts'

const keptMax = 10_000
/** How long a change that another process made may go unnoticed. */
const keptMs = 30_000

/** The hosts that an email carries. */
export type SenderHosts = {
  /** The start of links. That of the installation may change. */
  readonly baseUrl: string
  /** The domain of the envelope sender, which receives bounces; undefined if none are received. */
  readonly bounceDomain: string | undefined
}

/** What is known of the domain of an address. */
type KnownDomain = {
  /** True from the first verification on: accepted email is also sent if a record has vanished since. */
  wasVerified: boolean
  isVerified: boolean
  signer: DkimSigner | undefined
  /** The encrypted key of the signer. */
  dkimKey?: Buffer
  hosts: SenderHosts
  warmUp: Limit | undefined
}

/** How an email from an address is sent. */
export type SenderIdentity = {
  /** Whether email that was accepted may be sent. */
  isAllowed: boolean
  /** Whether new email may be sent. */
  isVerified: boolean
  /** Whether the organization had verified the domain, and it no longer is. */
  isLost: boolean
  /** Whether receivers can see that the email is genuine: the domain is verified, or the operator provides it. */
  isTrusted: boolean
  /** Undefined if the email is not signed. */
  signer: DkimSigner | undefined
  hosts: SenderHosts
  /** The limit of a warm-up plan, if the domain has one. */
  warmUp: Limit | undefined
}

/** The sender of an organization's emails whose flow has none. */
export type UsedDefaultSender = DefaultSender & {
  /** False if it is that of the installation. */
  isChosen: boolean
  /** The chosen sender, if it may not be used: its domain is not verified any more, or the operator forbids it. */
  unusable: DefaultSender | null
}

export type SendersOptions = {
  db: Db
  box: SecretBox
  policy: SenderPolicy
  /** The signer of the installation, if any. */
  dkim: DkimSigner | undefined
  /** The hosts of the installation. */
  hosts: SenderHosts
  /** Of the installation: MAIL_FROM. */
  defaultSender: DefaultSender
}

type Sender = {
  organizationId: OrganizationId
  address: string | null
  /** The field with the address, for the error. */
  path?: 'from' | 'from_email' | 'default_sender.email'
}

type LoadOptions = { db?: Reader | undefined; forceRefresh?: boolean }

/**
 * Decides which From addresses an organization may use, who signs and which hosts the emails carry: those of the domains
 * that it has verified, and what the operator provides for all organizations.
 */
export class Senders {
  readonly #db: Db
  readonly #box: SecretBox
  readonly #policy: SenderPolicy
  readonly #dkim: DkimSigner | undefined
  readonly #hosts: SenderHosts
  readonly #unknown: KnownDomain
  /** The default senders that organizations have chosen. */
  readonly #defaults: LRUCache<OrganizationId, { sender: DefaultSender | null }>
  readonly #installationDefault: UsedDefaultSender
  readonly #known = createCache<string, KnownDomain, Sender>(keptMax, {
    ttl: keptMs,
    noDeleteOnStaleGet: true,
    fetchMethod: (_key, last, { context }) => this.#find(context, this.#db, last),
  })
  /** That of the last address of a domain. */
  readonly #identities = new WeakMap<KnownDomain, { address: string; identity: SenderIdentity }>()

  constructor({ db, box, policy, dkim, hosts, defaultSender }: SendersOptions) {
    this.#db = db
    this.#defaults = createCache(keptMax, {
      ttl: keptMs,
      fetchMethod: async (organizationId) => ({ sender: (await findDefaultSender(db, organizationId)) ?? null }),
    })
    this.#installationDefault = { ...defaultSender, isChosen: false, unusable: null }
    this.#box = box
    this.#policy = policy
    this.#dkim = dkim
    this.#hosts = hosts
    this.#unknown = { wasVerified: false, isVerified: false, signer: undefined, hosts: this.#hosts, warmUp: undefined }
  }

  /** Throws `Refusal` if the organization may not use the address. Null means the default sender. */
  async check(sender: Sender, db?: Reader): Promise<void> {
    await this.loadForCheck([sender], db)
    this.checkLoaded(sender)
  }

  /** Must be awaited before `checkLoaded`. `db` may be a transaction that is open already. */
  loadForCheck(senders: readonly Sender[], db?: Reader): Promise<void> | undefined {
    const unclear = senders.filter(
      ({ organizationId, address }) =>
        address !== null && !this.#policy.allows(address) && !this.#domainOf(organizationId, address).isVerified,
    )
    if (unclear.length === 0) return undefined
    // Asked again, because it may have been verified a moment ago.
    return Promise.all(unclear.map((sender) => this.#load(sender, { db, forceRefresh: true }))).then(() => {})
  }

  checkLoaded({ organizationId, address, path = 'from_email' }: Sender): void {
    if (address === null || this.#policy.allows(address)) return
    if (!this.#domainOf(organizationId, address).isVerified) throw senderNotVerified(address, path)
  }

  /** Returns a promise only if the domain has to be looked up, which is seldom so. */
  identityOf(organizationId: OrganizationId, address: string): SenderIdentity | Promise<SenderIdentity> {
    const domain = this.#known.get(keyOf({ organizationId, address }))
    if (domain) return this.#identityOf(domain, address)
    return this.#load({ organizationId, address }).then((found) => this.#identityOf(found, address))
  }

  /**
   * Returns the sender of emails whose flow has none: the one that the organization has chosen, or that of the installation
   * while the chosen one may not be used. A promise only if it has to be looked up, which is seldom so.
   */
  defaultOf(organizationId: OrganizationId): UsedDefaultSender | Promise<UsedDefaultSender> {
    const found = getOrFetch(this.#defaults, organizationId)
    if (found instanceof Promise) return found.then(({ sender }) => this.#usableOf(organizationId, sender))
    return this.#usableOf(organizationId, found.sender)
  }

  /** Called after a change of this process. */
  forgetDefault(organizationId: OrganizationId): void {
    this.#defaults.delete(organizationId)
  }

  #usableOf(organizationId: OrganizationId, chosen: DefaultSender | null) {
    if (!chosen) return this.#installationDefault
    const used = ({ isVerified, isLost }: SenderIdentity): UsedDefaultSender =>
      isVerified && !isLost
        ? { ...chosen, isChosen: true, unusable: null }
        : { ...this.#installationDefault, unusable: chosen }
    const identity = this.identityOf(organizationId, chosen.email)
    return identity instanceof Promise ? identity.then(used) : used(identity)
  }

  /**
   * Whether bounces of the organization may be addressed to this host: any label below a domain that was verified, since
   * another label may have been in use when the email was sent.
   */
  async isReturnPath(organizationId: OrganizationId, host: string): Promise<boolean> {
    const { wasVerified } = await this.#load({ organizationId, address: `@${host.slice(host.indexOf('.') + 1)}` })
    return wasVerified
  }

  /** Called after a change of this process. The domain may have become that of the default sender. */
  forget({ organizationId, name }: { organizationId: OrganizationId; name: string }): void {
    this.#known.delete(`${organizationId} ${name}`)
    this.forgetDefault(organizationId)
  }

  #identityOf(domain: KnownDomain, address: string): SenderIdentity {
    const last = this.#identities.get(domain)
    if (last?.address === address) return last.identity
    const identity = this.#newIdentity(domain, address)
    this.#identities.set(domain, { address, identity })
    return identity
  }

  #newIdentity({ wasVerified, isVerified, signer, hosts, warmUp }: KnownDomain, address: string): SenderIdentity {
    const isAllowedToAll = this.#policy.allows(address)
    const isLost = wasVerified && !isVerified
    return {
      isAllowed: wasVerified || isAllowedToAll,
      isVerified: isVerified || isAllowedToAll,
      isLost,
      isTrusted: isVerified || (!isLost && (this.#policy.provides(address) || this.#signsFor(nameOf(address)))),
      signer: signer ?? (this.#policy.signs(address) ? this.#dkim : undefined),
      hosts,
      warmUp,
    }
  }

  /** Whether the signature of the installation shows that email from a domain is genuine. */
  #signsFor(name: string): boolean {
    const domain = this.#dkim?.domain
    return domain !== undefined && (name === domain || name.endsWith(`.${domain}`))
  }

  #domainOf(organizationId: OrganizationId, address: string): KnownDomain {
    return this.#known.get(keyOf({ organizationId, address })) ?? this.#unknown
  }

  async #load(sender: Sender, { db = this.#db, forceRefresh = false }: LoadOptions = {}): Promise<KnownDomain> {
    const key = keyOf(sender)
    if (db === this.#db) return this.#known.forceFetch(key, { context: sender, forceRefresh })
    // A transaction may be rolled back, so nobody else waits for it.
    const domain = await this.#find(sender, db, this.#known.peek(key, { allowStale: true }))
    this.#known.set(key, domain)
    return domain
  }

  async #find({ organizationId, address }: Sender, db: Reader, last: KnownDomain | undefined): Promise<KnownDomain> {
    const row = await findSender(db, organizationId, nameOf(address!))
    return row ? this.#toKnown(row, last) : this.#unknown
  }

  /** A domain whose key is lost is not verified, also before the next check says so. */
  #toKnown(row: SenderRow, last: KnownDomain | undefined): KnownDomain {
    const { dkimKey } = row
    // Reading a key takes as long as signing an email.
    const signer = last?.dkimKey?.equals(dkimKey) ? last.signer : this.#signerOf(row)
    if (!signer || !isUsed(row.status)) return { ...this.#unknown, wasVerified: true }
    return { wasVerified: true, isVerified: true, signer, dkimKey, hosts: this.#hostsOf(row), warmUp: warmUpLimit(row) }
  }

  /** Returns undefined if the key was encrypted with another APP_SECRET. */
  #signerOf({ name, selector, dkimKey }: SenderRow): DkimSigner | undefined {
    const pem = this.#box.open(dkimKey)
    return pem === undefined ? undefined : createSigner(name, selector, createPrivateKey(pem))
  }

  #hostsOf(row: SenderRow): SenderHosts {
    const hosts = this.#hosts
    const bounceDomain = hosts.bounceDomain && row.usesReturnPath ? returnPathHostOf(row) : hosts.bounceDomain
    if (row.usesTrackingHost) return { baseUrl: `https://${trackingHostOf(row)}`, bounceDomain }
    return {
      get baseUrl() {
        return hosts.baseUrl
      },
      bounceDomain,
    }
  }
}

// Nearly all addresses of a batch have the same domain.
const nameOf = (address: string) => asciiNameOf(domainOfAddress(address))
const asciiNameOf = rememberLast((domain: string) => asciiDomain(domain.toLowerCase()) ?? '')
const keyOf = ({ organizationId, address }: Sender) => `${organizationId} ${nameOf(address!)}`
