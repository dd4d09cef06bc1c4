import type { Db } from '../db/db.ts'
import type { FlowVersionId, OrganizationId } from '../ids.ts'
import { findVersions, type Version } from './flows.sql.ts'
import { storedTemplateOf } from './flows.ts'
import { type CompiledTemplate, loadTemplate, unreadableTemplate } from './template.ts'

export type ReadyVersion = Version & { template: CompiledTemplate }
type Key = { organizationId: OrganizationId; id: FlowVersionId }

const versionsMax = 500

/** Compiled versions in memory. A version never changes, so what is here is right for ever; the oldest used leave first. */
export class TemplateCache {
  readonly #db: Db
  readonly #ready = new Map<FlowVersionId, ReadyVersion>()

  constructor(db: Db) {
    this.#db = db
  }

  /** All of them, with one query for those that are not here yet. */
  async getAll(keys: Key[]): Promise<Map<FlowVersionId, ReadyVersion>> {
    const found = new Map<FlowVersionId, ReadyVersion>()
    const missing = new Map<FlowVersionId, Key>()
    for (const key of keys) {
      const ready = this.#ready.get(key.id)
      if (ready) found.set(key.id, ready)
      else missing.set(key.id, key)
    }
    if (missing.size > 0) {
      for (const version of await findVersions(this.#db, [...missing.values()])) {
        const stored = storedTemplateOf(version)
        // Those of others are asked for in the same breath: one that cannot be read must not fail them all.
        const template = await loadTemplate(stored).catch(() => unreadableTemplate(stored))
        const ready = { ...version, template }
        found.set(version.id, ready)
        this.#keep(ready)
      }
    }
    return found
  }

  #keep(ready: ReadyVersion): void {
    const [oldest] = this.#ready.keys()
    if (this.#ready.size >= versionsMax && oldest !== undefined) this.#ready.delete(oldest)
    this.#ready.set(ready.id, ready)
  }
}
