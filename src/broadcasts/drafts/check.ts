import {
  type Blocker,
  draftValues,
  type EmailDraft,
  findBlockers,
  type TemplateCache,
  type TemplateRunner,
  type TemplateValues,
} from '../../content/content.ts'
import { Pacer } from '../../platform/runtime/pacer.ts'
import { type AudienceContact, type AudienceCounts, countZones, selectAudience } from '../audience/audience.sql.ts'
import { addCounts, noCounts, readAudience } from '../audience/count-audience.ts'
import type { Broadcast } from '../broadcasts.sql.ts'
import { readyToSend } from '../lifecycle.ts'
import { checkPlannedTime } from '../schedule.ts'
import { loadSentVersions } from '../variants.ts'
import { type CheckedEmails, checkEmails, nothingChecked } from './check-emails.ts'
import { type Plan, type PlanParts, planBroadcast } from './plan.ts'

const pageSize = 1_000
/** How long the variables of recipients are checked. A million light templates take longer. */
const checkMsMax = 2_000
/** Templates that are too slow for the main thread are checked for a few recipients only. */
const slowChecksMax = 20
const listedMax = 20

/** Values of the attribute with the time zone that are counted, in a slice and in all of them. Others count as none. */
const zonesMax = 1_000

export type CheckParts = PlanParts & { templates: TemplateCache; runner: TemplateRunner }

export type Check = AudienceCounts &
  CheckedEmails & {
    /** How many recipients were checked for missing variables. */
    checked: number
    missing: number
    /** How many of the checked recipients lack each variable. */
    missingVariables: Map<string, number>
    /** The first recipients with missing variables. */
    incomplete: { contact: AudienceContact; variables: string[] }[]
    unusedContextKeys: string[]
    blockers: Blocker[]
    plan: Plan
  }

/**
 * Counts the recipients and renders the email, in all its variants, for as many of them as fit into the time, without sending
 * anything. No database connection is held while emails are rendered.
 */
export async function checkBroadcast(parts: CheckParts, broadcast: Broadcast): Promise<Check> {
  const { read } = parts
  const { context, organizationId, schedule } = broadcast
  const { flow, audience, versions } = await read(organizationId, async (db) => {
    const { flow, audience } = await readyToSend(db, broadcast)
    checkPlannedTime(schedule, broadcast.now)
    const { templates } = parts
    return { flow, audience, versions: await loadSentVersions({ db, templates }, broadcast, flow.versionId) }
  })
  for (const { fromEmail } of versions) await parts.senders.check({ organizationId, address: fromEmail })
  const zones = new Map<string, number>()
  let subjects: (string | null)[] = versions.map(() => null)
  let firstComplete: TemplateValues | undefined
  const check: Omit<Check, 'blockers' | 'plan' | keyof CheckedEmails> = {
    ...noCounts,
    checked: 0,
    missing: 0,
    missingVariables: new Map(),
    incomplete: [],
    unusedContextKeys: [],
  }
  const isSlow = versions.some((version) => parts.runner.isSlow(version))
  const until = performance.now() + checkMsMax
  const isRendering = () => performance.now() <= until && !(isSlow && check.checked >= slowChecksMax)
  const pacer = new Pacer(organizationId)
  const render = async (contact: AudienceContact) => {
    const drafts: EmailDraft[] = []
    const values = draftValues(contact, flow.organizationName, context)
    for (const version of versions) drafts.push(await parts.runner.draft(version, values))
    const missing = [...new Set(drafts.flatMap((each) => each.missing))]
    check.checked++
    check.unusedContextKeys = drafts[0]!.unused.filter((key) => drafts.every(({ unused }) => unused.includes(key)))
    if (missing.length === 0) {
      if (!firstComplete) subjects = drafts.map(({ subject }) => subject)
      firstComplete ??= values
      return
    }
    check.missing++
    for (const name of missing) check.missingVariables.set(name, (check.missingVariables.get(name) ?? 0) + 1)
    if (check.incomplete.length < listedMax) check.incomplete.push({ contact, variables: missing })
  }
  await readAudience(read, audience, {
    // Slices are pages while their contacts are rendered, and larger when they are only counted.
    sizeMax: () => (isRendering() ? pageSize : Number.POSITIVE_INFINITY),
    more: async (db, range) => ({
      contacts: isRendering() ? await selectAudience(db, audience, range, pageSize) : [],
      zones: schedule.per_recipient
        ? await countZones(db, audience, schedule.time_zone_attribute, range, zonesMax)
        : [],
    }),
    visit: async ({ counts, more: { contacts, zones: found } }) => {
      addCounts(check, counts)
      for (const { zone, recipients } of found)
        if (zones.has(zone) || zones.size < zonesMax) zones.set(zone, (zones.get(zone) ?? 0) + recipients)
      for (const contact of contacts) {
        if (pacer.isDue) await pacer.turn()
        if (!isRendering()) break
        await render(contact)
      }
      return true
    },
  })
  const { recipients } = check
  const emails = firstComplete
    ? await checkEmails(parts.runner, broadcast, versions, firstComplete, flow.kind === 'marketing')
    : nothingChecked
  const fromEmails = versions.map(({ fromEmail }) => fromEmail)
  return {
    ...check,
    ...emails,
    blockers: await findBlockers(parts.senders, { organizationId, fromEmails, findings: emails.findings }),
    plan: await planBroadcast(parts, broadcast, { recipients, zones, versions, subjects }),
  }
}
