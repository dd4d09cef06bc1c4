import { type DefaultSender, findDefaultSender } from '../../accounts/accounts.ts'
import type { Db } from '../../platform/db/db.ts'
import { createCache } from '../../platform/runtime/cache.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'

const keptMax = 10_000
/** How long a change that another process made may go unnoticed. */
const keptMs = 30_000

type Chosen = { sender: DefaultSender | null }

/** The default senders that organizations have chosen, each read at most once in 30 seconds. */
export class DefaultSenders {
  readonly #db: Db
  readonly #chosen = createCache<OrganizationId, Chosen>(keptMax, { ttl: keptMs })
  readonly #loading = new Map<OrganizationId, Promise<Chosen>>()

  constructor(db: Db) {
    this.#db = db
  }

  /** Returns a promise only if it has to be read. */
  of(organizationId: OrganizationId): Chosen | Promise<Chosen> {
    return this.#chosen.get(organizationId) ?? this.#loading.get(organizationId) ?? this.#load(organizationId)
  }

  /** Called after a change of this process. What was being read before it is not kept. */
  forget(organizationId: OrganizationId): void {
    this.#chosen.delete(organizationId)
    this.#loading.delete(organizationId)
  }

  #load(organizationId: OrganizationId): Promise<Chosen> {
    const isCurrent = () => this.#loading.get(organizationId) === loading
    const loading = findDefaultSender(this.#db, organizationId).then(
      (sender) => {
        const chosen = { sender: sender ?? null }
        if (isCurrent()) {
          this.#loading.delete(organizationId)
          this.#chosen.set(organizationId, chosen)
        }
        return chosen
      },
      (error: unknown) => {
        if (isCurrent()) this.#loading.delete(organizationId)
        throw error
      },
    )
    this.#loading.set(organizationId, loading)
    return loading
  }
}
