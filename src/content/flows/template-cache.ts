import { LRUCache } from 'lru-cache'
import type { Db, Reader } from '../../platform/db/db.ts'
import { Pacer, turnsOfAll } from '../../platform/runtime/pacer.ts'
import type { FlowVersionId, OrganizationId } from '../../platform/values/ids.ts'
import { findVersions, type Version } from './flows.sql.ts'
import { type CompiledTemplate, loadTemplate, type StoredTemplate, unreadableTemplate } from './template.ts'
import { utmQueryOf } from './utm.ts'
import { isLight, weightOf } from './weight.ts'

export type ReadyVersion = Version & {
  organizationId: OrganizationId
  stored: StoredTemplate
  /** The parameters that are added to the links of its emails. */
  utmQuery: string
  /** Undefined for a template that is too large to be compiled on the main thread. */
  template: CompiledTemplate | undefined
  /** Rendered in task processes until this time of `performance.now()`. */
  slowUntil: number
  /** Consecutive renderings that exceeded the time limit. */
  lateRuns: number
  /** Set once an email with many links was composed. */
  hasManyLinks?: boolean
  /** Set if it replaces the subject of the version. */
  ownSubject?: string
}
type Key = { organizationId: OrganizationId; id: FlowVersionId }

const bytesMax = 100_000_000

function storedTemplateOf({ subject, html, text, derivedText, brand }: Version): StoredTemplate {
  if (text !== null) return { subject, html, brand, text: { from: 'flow', source: text } }
  const derived =
    derivedText === null ? ({ from: 'html' } as const) : { from: 'template' as const, source: derivedText }
  return { subject, html, brand, text: derived }
}

/** Returns the version with another subject, which must have been compiled before. The rest is the same. */
export async function withSubject(version: ReadyVersion, subject: string): Promise<ReadyVersion> {
  const stored = { ...version.stored, subject }
  const template = version.template && (await loadTemplate(stored).catch(() => unreadableTemplate(stored)))
  return { ...version, subject, stored, template, slowUntil: version.slowUntil, lateRuns: 0, ownSubject: subject }
}

/** Caches versions, compiled if they are light. A version never changes. Evicts the least recently used. */
export class TemplateCache {
  readonly #db: Db
  readonly #ready: LRUCache<FlowVersionId, ReadyVersion>

  constructor(db: Db, options: { bytesMax?: number } = {}) {
    this.#db = db
    this.#ready = new LRUCache({
      maxSize: options.bytesMax ?? bytesMax,
      sizeCalculation: ({ stored, source, template }) =>
        2 * source.text.length + (template ? weightOf(stored) : 2_000 + 2 * stored.html.length),
    })
  }

  /** The estimated size of the cache. */
  get bytes(): number {
    return this.#ready.calculatedSize
  }

  /** Returns the versions, with one query for those that are not cached, in the caller's transaction if there is one. */
  async getAll(keys: Key[], db: Reader = this.#db): Promise<Map<FlowVersionId, ReadyVersion>> {
    const found = new Map<FlowVersionId, ReadyVersion>()
    const missing = new Map<FlowVersionId, Key>()
    for (const key of keys) {
      const ready = this.#ready.get(key.id)
      if (ready) found.set(key.id, ready)
      else missing.set(key.id, key)
    }
    if (missing.size > 0) {
      const pacer = new Pacer(turnsOfAll(keys.map(({ organizationId }) => organizationId)))
      for (const version of await findVersions(db, [...missing.values()])) {
        if (pacer.isDue) await pacer.turn()
        const { organizationId } = missing.get(version.id)!
        const stored = storedTemplateOf(version)
        // The batch contains versions of other organizations: one that cannot be loaded must not fail them.
        const template = isLight(stored)
          ? await loadTemplate(stored).catch(() => unreadableTemplate(stored))
          : undefined
        const ready = {
          ...version,
          organizationId,
          stored,
          utmQuery: utmQueryOf(version.utm),
          template,
          slowUntil: Number.NEGATIVE_INFINITY,
          lateRuns: 0,
        }
        found.set(version.id, ready)
        this.#ready.set(version.id, ready)
      }
    }
    return found
  }
}
