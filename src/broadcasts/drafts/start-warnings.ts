import {
  type Blocker,
  draftValues,
  findBlockers,
  type TemplateCache,
  type TemplateRunner,
} from '../../content/content.ts'
import type { Senders } from '../../delivery/delivery.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { conflict, Refusal } from '../../platform/values/errors.ts'
import type { BroadcastId, OrganizationId } from '../../platform/values/ids.ts'
import { type AudienceContact, type AudienceQuery, selectAudience } from '../audience/audience.sql.ts'
import { readAudience } from '../audience/count-audience.ts'
import { type Broadcast, getBroadcast, readyToSend } from '../lifecycle.ts'
import { loadSentVersions } from '../variants.ts'
import { checkEmails, nothingChecked } from './check-emails.ts'

/** One of the first recipients has all variables, or the email cannot be judged. */
const triedMax = 10
const pageSize = 1_000
const pagesMax = 10

export type WarningParts = {
  db: Db
  read: BoundedRead
  senders: Senders
  runner: TemplateRunner
  templates: TemplateCache
}

type Key = { organizationId: OrganizationId; id: BroadcastId }

/** Returns the blockers of a broadcast that is about to be started, or nothing if it cannot be started. */
export async function findStartWarnings(parts: WarningParts, { organizationId, id }: Key): Promise<Blocker[]> {
  try {
    return await blockersOf(parts, await getBroadcast(parts.db, organizationId, id))
  } catch (error) {
    // The start says why.
    if (error instanceof Refusal) return []
    throw error
  }
}

/** Throws `Refusal` if the caller has named the blockers to accept, and there are others. */
export function checkAccepted(blockers: Blocker[], accepted: Blocker['code'][] | undefined): void {
  const others = blockers.filter(({ code }) => accepted && !accepted.includes(code))
  if (others.length === 0) return
  const codes = [...new Set(others.map(({ code }) => code))].join(', ')
  const messages = others.map(({ message }) => message).join(' ')
  throw conflict(`The broadcast was not started. ${messages} Check it again, and correct or accept this (${codes}).`)
}

async function blockersOf(parts: WarningParts, broadcast: Broadcast): Promise<Blocker[]> {
  const { read, senders, runner, templates } = parts
  const { organizationId, context } = broadcast
  const { flow, audience, versions } = await read(organizationId, async (db) => {
    const { flow, audience } = await readyToSend(db, broadcast)
    return { flow, audience, versions: await loadSentVersions({ db, templates }, broadcast, flow.versionId) }
  })
  const fromEmails = versions.map(({ fromEmail }) => fromEmail)
  for (const contact of await firstRecipients(read, audience)) {
    const values = draftValues(contact, flow.organizationName, context)
    const drafts = await Promise.all(versions.map((version) => runner.draft(version, values)))
    if (drafts.some(({ missing }) => missing.length > 0)) continue
    const { findings } = await checkEmails(runner, broadcast, versions, values, flow.kind === 'marketing')
    return findBlockers(senders, { organizationId, fromEmails, findings })
  }
  return findBlockers(senders, { organizationId, fromEmails, findings: nothingChecked.findings })
}

async function firstRecipients(read: BoundedRead, audience: AudienceQuery): Promise<AudienceContact[]> {
  const found: AudienceContact[] = []
  let pages = 0
  await readAudience(read, audience, {
    sizeMax: () => pageSize,
    more: (db, range) => selectAudience(db, audience, range, triedMax),
    visit: ({ more }) => {
      found.push(...more)
      return found.length === 0 && ++pages < pagesMax
    },
  })
  return found
}
