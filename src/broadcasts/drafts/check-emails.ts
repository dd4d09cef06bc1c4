import {
  type EmailCheck,
  type Finding,
  linksMax,
  type ReadyVersion,
  type TemplateRunner,
  type TemplateValues,
} from '../../content/content.ts'
import { Refusal } from '../../platform/values/errors.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { utmQueryFor, type VariantKey, variantKeyOf } from '../variants.ts'

export type CheckedEmails = {
  /** What should be corrected. `variant` is null if it concerns all emails. */
  findings: (Finding & { variant: VariantKey | null })[]
  links: string[]
  htmlBytes: number
}

/** If no recipient could be rendered. */
export const nothingChecked: CheckedEmails = { findings: [], links: [], htmlBytes: 0 }

/** Checks the email of each variant, as one contact would get it. */
export async function checkEmails(
  runner: TemplateRunner,
  broadcast: Broadcast,
  versions: readonly ReadyVersion[],
  values: TemplateValues,
  isMarketing: boolean,
): Promise<CheckedEmails> {
  const checks: EmailCheck[] = []
  for (const [variant, version] of versions.entries()) {
    const utmQuery = utmQueryFor(broadcast, version, variant) ?? version.utmQuery
    checks.push(await runner.check(version, values, { isMarketing, utmQuery }).catch(failedCheck))
  }
  const found = new Map<string, { finding: Finding; variants: number[] }>()
  for (const [variant, { findings }] of checks.entries())
    for (const finding of findings) {
      const key = JSON.stringify(finding)
      const entry = found.get(key) ?? { finding, variants: [] }
      entry.variants.push(variant)
      found.set(key, entry)
    }
  return {
    findings: [...found.values()].flatMap(({ finding, variants }) =>
      (variants.length === versions.length ? [null] : variants).map((variant) => ({
        ...finding,
        variant: variantKeyOf(variant),
      })),
    ),
    links: [...new Set(checks.flatMap(({ links }) => links))].slice(0, linksMax),
    htmlBytes: Math.max(...checks.map(({ htmlBytes }) => htmlBytes)),
  }
}

/** The other results of the check are worth showing, although this email could not be rendered. */
function failedCheck(error: unknown): EmailCheck {
  if (!(error instanceof Refusal)) throw error
  const advice = error.type === 'unavailable' ? 'Check again in a moment.' : 'Correct the template of the flow.'
  return { findings: [{ check: 'template', path: 'html', problem: error.message, advice }], links: [], htmlBytes: 0 }
}
