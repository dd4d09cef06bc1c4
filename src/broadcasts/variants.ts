import {
  type ReadyVersion,
  type TemplateCache,
  type TemplateRunner,
  toFieldProblems,
  utmQueryOf,
  withSubject,
} from '../content/content.ts'
import type { Reader } from '../platform/db/db.ts'
import { invalid } from '../platform/values/errors.ts'
import type { FlowVersionId, OrganizationId } from '../platform/values/ids.ts'
import type { Broadcast, BroadcastContent, Variant } from './broadcasts.sql.ts'
import { findVersionIds } from './variants.sql.ts'

export const variantsMax = 4
export const variantKeys = ['A', 'B', 'C', 'D'] as const
export type VariantKey = (typeof variantKeys)[number]

export const variantKeyOf = (variant: number | null): VariantKey | null =>
  variant === null ? null : variantKeys[variant]!

type Test = Pick<Broadcast, 'variants' | 'testPercent'>

/** Whether a sample gets the variants first, and the rest the winner. */
export const hasWinner = ({ variants, testPercent }: Test) => variants.length > 0 && testPercent < 100

/** Whether the rest waits for the winner. */
export const isTesting = (broadcast: Test & Pick<Broadcast, 'decidedAt'>) =>
  hasWinner(broadcast) && broadcast.decidedAt === null

/** Throws `Refusal` if a variant is invalid. `checkSubjects` checks the subjects. */
export async function checkVariants(
  db: Reader,
  organizationId: OrganizationId,
  { variants, flowId }: Pick<BroadcastContent, 'variants' | 'flowId'>,
): Promise<void> {
  if (variants.length === 0) return
  if (variants.length === 1)
    throw invalid({ path: 'variants', problem: `must be empty or have 2 to ${variantsMax} entries` })
  const total = variants.reduce((sum, { share }) => sum + share, 0)
  if (total !== 100) throw invalid({ path: 'variants', problem: `must have shares that add up to 100, not ${total}` })
  const numbers = variants.flatMap(({ flow_version: number }) => number ?? [])
  const versions = flowId === null ? new Map() : await findVersionIds(db, organizationId, flowId, numbers)
  for (const [position, { subject, flow_version: number }] of variants.entries()) {
    const path = `variants.${position}`
    if (subject !== null && number !== null)
      throw invalid({ path, problem: 'must have either a subject or a flow_version' })
    if (number !== null && !versions.has(number))
      throw invalid({ path: `${path}.flow_version`, problem: 'is not a published version of the flow' })
  }
}

/**
 * Throws `Refusal` if one of the subjects is empty or not a valid template. Compiling them may take another connection and
 * a task process, so the caller must not hold a connection.
 */
export async function checkSubjects(
  runner: TemplateRunner,
  organizationId: OrganizationId,
  { subject, variants = [] }: Partial<Pick<BroadcastContent, 'subject' | 'variants'>>,
): Promise<void> {
  if (typeof subject === 'string') await checkSubject(runner, organizationId, 'subject', subject)
  for (const [position, { subject: own }] of variants.entries())
    if (own !== null) await checkSubject(runner, organizationId, `variants.${position}.subject`, own)
}

async function checkSubject(runner: TemplateRunner, organizationId: OrganizationId, path: string, subject: string) {
  if (subject.trim() === '') throw invalid({ path, problem: 'must not be empty' })
  if (/[\r\n]/.test(subject)) throw invalid({ path, problem: 'must be a single line' })
  const source = { format: 'html', text: '<p>-</p>' } as const
  const compiled = await runner.compile(organizationId, { subject, source })
  if (compiled.kind === 'faulty') throw invalid({ path, problem: toFieldProblems(compiled.problems)[0]!.problem })
}

/**
 * Returns the parameters that are added to the links of the emails of a variant, or undefined if they are those of the
 * flow. Without a `utm_content`, it is the name of the variant, so that analytics tell them apart.
 */
export function utmQueryFor(
  { utm, variants, winner }: Pick<Broadcast, 'utm' | 'variants' | 'winner'>,
  version: ReadyVersion,
  variant: number | null,
): string | undefined {
  const used = utm ?? version.utm
  const key = variants.length > 0 ? variantKeyOf(variant ?? winner) : null
  if (!used || (!utm && !key)) return undefined
  return utmQueryOf({ ...used, content: used.content ?? (key && `variant-${key.toLowerCase()}`) })
}

/** Returns the versions that are sent: one for each variant, or one. */
export async function loadSentVersions(
  parts: { db: Reader; templates: TemplateCache },
  broadcast: Parameters<typeof loadVersions>[1],
  pinnedId: FlowVersionId,
): Promise<ReadyVersion[]> {
  const versionFor = (await loadVersions(parts, broadcast, pinnedId))!
  return broadcast.variants.length === 0 ? [versionFor(null)] : broadcast.variants.map((_, at) => versionFor(at))
}

/** The version that a recipient gets, by the variant in its row of the ledger. */
export type VersionFor = (variant: number | null) => ReadyVersion

/** Returns undefined if a version is missing. */
export async function loadVersions(
  { db, templates }: { db: Reader; templates: TemplateCache },
  broadcast: Pick<Broadcast, 'organizationId' | 'flowId' | 'subject' | 'variants' | 'winner'>,
  pinnedId: FlowVersionId,
): Promise<VersionFor | undefined> {
  const { organizationId, flowId, subject, variants, winner } = broadcast
  const numbers = variants.flatMap(({ flow_version: number }) => number ?? [])
  const ids = numbers.length === 0 ? new Map() : await findVersionIds(db, organizationId, flowId!, numbers)
  const keys = [pinnedId, ...ids.values()].map((id) => ({ organizationId, id }))
  const versions = await templates.getAll(keys, db)
  const stored = versions.get(pinnedId)
  const pinned = stored && subject !== null ? await withSubject(stored, subject) : stored
  const versionOf = async ({ subject, flow_version: number }: Variant) => {
    const version = number === null ? pinned : versions.get(ids.get(number)!)
    return version && subject !== null ? withSubject(version, subject) : version
  }
  const ofVariants = await Promise.all(variants.map(versionOf))
  if (!pinned || ofVariants.includes(undefined)) return undefined
  return (variant) => ofVariants[variant ?? winner ?? 0] ?? pinned
}
