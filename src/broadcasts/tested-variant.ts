import type { ReadyVersion, TemplateCache } from '../content/content.ts'
import type { Db } from '../platform/db/db.ts'
import { invalid } from '../platform/values/errors.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { findFlowOf } from './results/flow-of-broadcast.sql.ts'
import { loadVersions, utmQueryFor, type VariantKey, variantKeys } from './variants.ts'

type TestedVariant = { version: ReadyVersion; utmQuery: string | undefined }

/** Returns what to test if the broadcast changes the email of its flow: the named variant, or the first. */
export async function testedVariant(
  parts: { db: Db; templates: TemplateCache },
  broadcast: Broadcast,
  key: VariantKey | undefined,
): Promise<TestedVariant | undefined> {
  const { organizationId, flowId, subject, utm, variants } = broadcast
  const position = variantKeys.indexOf(key ?? 'A')
  if (key !== undefined && position >= variants.length) throw invalid({ path: 'variant', problem: 'does not exist' })
  if (variants.length === 0 && subject === null && utm === null) return undefined
  const flow = await findFlowOf(parts.db, organizationId, flowId!)
  const versionFor = flow && (await loadVersions(parts, broadcast, flow.versionId))
  if (!versionFor) throw invalid({ path: 'flow_id', problem: 'does not exist' })
  const version = versionFor(position)
  return { version, utmQuery: utmQueryFor(broadcast, version, position) }
}
