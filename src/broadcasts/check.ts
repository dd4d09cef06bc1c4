import type { Reader } from '../db/db.ts'
import { NeedsTask } from '../flows/template.ts'
import type { ReadyVersion, TemplateCache } from '../flows/template-cache.ts'
import type { TemplateRunner } from '../flows/template-runner.ts'
import type { MailDraft } from '../flows/templates.task.ts'
import type { SenderPolicy } from '../mail/sender-policy.ts'
import { Pacer } from '../runtime/pacer.ts'
import type { ContactId } from '../values/ids.ts'
import { type AudienceContact, type AudienceCounts, countAudience, selectAudience } from './audience.sql.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import { readyToSend } from './broadcasts.ts'
import { checkPlannedTime } from './schedule.ts'
import { loadVersions } from './variants.ts'

const pageSize = 1_000
/** How long the variables of recipients are checked. A million light templates take longer. */
const checkMsMax = 2_000
/** Templates that are too slow for the main thread are checked for a few recipients only. */
const slowChecksMax = 20
const listedMax = 20
const zeroId = '00000000-0000-0000-0000-000000000000' as ContactId

export type CheckParts = { templates: TemplateCache; runner: TemplateRunner; senders: SenderPolicy }

export type Check = AudienceCounts & {
  /** How many recipients were checked for missing variables. */
  checked: number
  missing: number
  /** How many of the checked recipients lack each variable. */
  missingVariables: Map<string, number>
  /** The first recipients with missing variables. */
  incomplete: { contact: AudienceContact; variables: string[] }[]
  unusedContextKeys: string[]
}

/**
 * Counts the recipients and renders the email, in all its variants, for as many of them as fit into the time, without sending
 * anything.
 */
export async function checkBroadcast(parts: CheckParts, db: Reader, broadcast: Broadcast): Promise<Check> {
  const { flow, of } = await readyToSend(db, broadcast)
  checkPlannedTime(broadcast.schedule, broadcast.now)
  const { context } = broadcast
  const versionFor = (await loadVersions({ db, templates: parts.templates }, broadcast, flow.versionId))!
  const versions =
    broadcast.variants.length === 0 ? [versionFor(null)] : broadcast.variants.map((_, at) => versionFor(at))
  for (const version of versions) parts.senders.check(version.fromEmail)
  const check: Check = {
    ...(await countAudience(db, of)),
    checked: 0,
    missing: 0,
    missingVariables: new Map(),
    incomplete: [],
    unusedContextKeys: [],
  }
  const draft = async (version: ReadyVersion, contact: AudienceContact) => {
    const values = {
      contact,
      organization: { name: flow.organizationName },
      unsubscribeUrl: 'https://unsubscribe.invalid',
      context,
    }
    try {
      return parts.runner.draftNow(version, values)
    } catch (error) {
      if (!(error instanceof NeedsTask)) throw error
      return parts.runner.draft(version, values)
    }
  }
  const isSlow = (version: ReadyVersion) => parts.runner.isSlow(version)
  const until = performance.now() + checkMsMax
  const pacer = new Pacer()
  let after = zeroId
  for (;;) {
    const contacts = await selectAudience(db, of, after, pageSize)
    for (const contact of contacts) {
      if (pacer.isDue) await pacer.turn()
      if (performance.now() > until || (versions.some(isSlow) && check.checked >= slowChecksMax)) return check
      const drafts: MailDraft[] = []
      for (const version of versions) drafts.push(await draft(version, contact))
      const missing = [...new Set(drafts.flatMap((each) => each.missing))]
      check.checked++
      check.unusedContextKeys = drafts[0]!.unused.filter((key) => drafts.every(({ unused }) => unused.includes(key)))
      if (missing.length === 0) continue
      check.missing++
      for (const name of missing) check.missingVariables.set(name, (check.missingVariables.get(name) ?? 0) + 1)
      if (check.incomplete.length < listedMax) check.incomplete.push({ contact, variables: missing })
    }
    if (contacts.length < pageSize) return check
    after = contacts.at(-1)!.id
  }
}
