import { createPrivateKey } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Db, Reader } from '../db/db.ts'
import { createSigner, type DkimSigner } from '../mail/dkim.ts'
import { type SenderPolicy, senderNotVerified } from '../mail/sender-policy.ts'
import { rememberLast } from '../runtime/remember-last.ts'
import type { SecretBox } from '../secrets/secrets.ts'
import { asciiDomain } from '../values/domain.ts'
import type { OrganizationId } from '../values/ids.ts'
import { findSender, type SenderRow } from './domains.sql.ts'

const keptMax = 10_000
/** How long a change of a domain may go unnoticed. */
const keptMs = 30_000

/** What is known of the domain of an address. */
type KnownDomain = {
  /** True from the first verification on: accepted email is also sent if a record has vanished since. */
  wasVerified: boolean
  isVerified: boolean
  signer: DkimSigner | undefined
}
const unknownDomain: KnownDomain = { wasVerified: false, isVerified: false, signer: undefined }

export type SendersOptions = {
  db: Db
  box: SecretBox
  policy: SenderPolicy
  /** The signer of the installation, if any. */
  dkim: DkimSigner | undefined
}

type Sender = {
  organizationId: OrganizationId
  address: string | null
  /** The field with the address, for the error. */
  path?: 'from' | 'from_email'
}

/**
 * Decides which From addresses an organization may use and who signs: the domains that it has verified, and what the
 * operator allows all organizations.
 */
export class Senders {
  readonly #db: Db
  readonly #box: SecretBox
  readonly #policy: SenderPolicy
  readonly #dkim: DkimSigner | undefined
  readonly #known = new LRUCache<string, KnownDomain>({ max: keptMax, ttl: keptMs })
  readonly #loading = new Map<string, Promise<void>>()

  constructor({ db, box, policy, dkim }: SendersOptions) {
    this.#db = db
    this.#box = box
    this.#policy = policy
    this.#dkim = dkim
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
    for (const { organizationId, address } of unclear) this.#known.delete(keyOf(organizationId, address!))
    return this.load(unclear, db)
  }

  checkLoaded({ organizationId, address, path = 'from_email' }: Sender): void {
    if (address === null || this.#policy.allows(address)) return
    if (!this.#domainOf(organizationId, address).isVerified) throw senderNotVerified(address, path)
  }

  /**
   * Looks up the domains of addresses, which the other methods need. Returns undefined if they are known, which is nearly
   * always so.
   */
  load(senders: readonly Sender[], db: Reader = this.#db): Promise<void> | undefined {
    const missing = senders.filter(
      ({ organizationId, address }) => address !== null && !this.#known.has(keyOf(organizationId, address)),
    )
    if (missing.length === 0) return undefined
    return Promise.all(missing.map((sender) => this.#load(sender, db))).then(() => {})
  }

  /** Whether email that was accepted may be sent. */
  allows(organizationId: OrganizationId, address: string): boolean {
    return this.#policy.allows(address) || this.#domainOf(organizationId, address).wasVerified
  }

  /** Returns undefined if email from this address is not signed. */
  signerOf(organizationId: OrganizationId, address: string): DkimSigner | undefined {
    const { signer } = this.#domainOf(organizationId, address)
    return signer ?? (this.#policy.signs(address) ? this.#dkim : undefined)
  }

  #domainOf(organizationId: OrganizationId, address: string): KnownDomain {
    return this.#known.get(keyOf(organizationId, address)) ?? unknownDomain
  }

  #load(sender: Sender, db: Reader): Promise<void> {
    // A transaction may be rolled back, so nobody else waits for it.
    if (db !== this.#db) return this.#find(sender, db)
    const key = keyOf(sender.organizationId, sender.address!)
    let loading = this.#loading.get(key)
    if (!loading) {
      loading = this.#find(sender, db).finally(() => this.#loading.delete(key))
      this.#loading.set(key, loading)
    }
    return loading
  }

  async #find({ organizationId, address }: Sender, db: Reader): Promise<void> {
    const row = await findSender(db, organizationId, nameOf(address!))
    this.#known.set(keyOf(organizationId, address!), row ? this.#toKnown(row) : unknownDomain)
  }

  #toKnown({ name, status, selector, dkimKey }: SenderRow): KnownDomain {
    const isVerified = status === 'verified' || status === 'warning'
    // Undefined if it was encrypted with another APP_SECRET.
    const pem = isVerified ? this.#box.open(dkimKey) : undefined
    const signer = pem === undefined ? undefined : createSigner(name, selector, createPrivateKey(pem))
    return { wasVerified: true, isVerified, signer }
  }
}

// Nearly all addresses of a batch have the same domain.
const nameOf = (address: string) => asciiNameOf(address.slice(address.lastIndexOf('@') + 1))
const asciiNameOf = rememberLast((domain: string) => asciiDomain(domain.toLowerCase()) ?? '')
const keyOf = (organizationId: OrganizationId, address: string) => `${organizationId} ${nameOf(address)}`
