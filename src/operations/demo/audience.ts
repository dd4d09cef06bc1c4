import {
  checkFilter,
  createGroup,
  createSegment,
  datePastGroups,
  datePastSegments,
  insertPastContacts,
  insertPastImport,
  type PastContact,
} from '../../audience/audience.ts'
import type { Db } from '../../platform/db/db.ts'
import { dayMs } from '../../platform/values/durations.ts'
import { parseEmail } from '../../platform/values/email.ts'
import {
  type ContactId,
  derivedId,
  type GroupId,
  type OrganizationId,
  type SegmentId,
  type UserId,
} from '../../platform/values/ids.ts'
import { demoDomain } from '../../platform/values/simulated-recipients.ts'
import { chanceOf } from './chance.ts'
import { firstNames, groupNames, importHeader, lastNames, rejectedRows } from './content.ts'
import type { Recipient } from './planned-message.ts'

const contactsWanted = 400
/** The last ones were imported, after the first emails; the others are older. */
const importedWanted = 42
const importAgeDays = 12
const oldestDays = 240
/** The organization and its groups are older than its contacts. */
export const accountAgeDays = oldestDays + 1
const youngestDays = 61

export type DemoGroup = { id: GroupId; members: ReadonlySet<ContactId> }
export type DemoGroups = Record<(typeof groupNames)[number], DemoGroup>
export type Audience = { contacts: Recipient[]; groups: DemoGroups }

/** Adds groups, contacts of the past, and the import that added some of them. */
export async function addAudience(
  db: Db,
  { organizationId, userId }: { organizationId: OrganizationId; userId: UserId },
  endMs: number,
): Promise<Audience> {
  const ids = {} as Record<(typeof groupNames)[number], GroupId>
  for (const groupName of groupNames) ids[groupName] = (await createGroup(db, organizationId, groupName)).id
  const importedMs = endMs - importAgeDays * dayMs
  const importId = derivedId('imp', importedMs, 'import')
  const contacts = Array.from({ length: contactsWanted }, (_, n): PastContact => {
    const isImported = n >= contactsWanted - importedWanted
    const age = youngestDays + (oldestDays - youngestDays) * (1 - n / (contactsWanted - importedWanted))
    const createdMs = isImported ? importedMs : endMs - age * dayMs
    return {
      ...personOf(n),
      id: derivedId('con', createdMs, `contact ${n}`),
      createdAt: new Date(createdMs),
      actor: isImported ? { type: 'import', id: importId } : { type: 'user', id: userId },
      groupIds: isImported
        ? [ids.Newsletter]
        : groupNames.filter((_, index) => isIn(index, n)).map((each) => ids[each]),
    }
  })
  await db.begin(async (tx) => {
    await datePastGroups(tx, organizationId, new Date(endMs - accountAgeDays * dayMs))
    await insertPastContacts(tx, organizationId, contacts)
    await insertPastImport(tx, organizationId, {
      id: importId,
      groupId: ids.Newsletter,
      fileName: 'newsletter-signups.csv',
      createdBy: userId,
      finishedAt: new Date(importedMs),
      header: importHeader,
      created: importedWanted,
      // The header is the first line, and rejected rows are lines as well.
      rejected: rejectedRows.map(({ after, cells }, index) => ({
        line: after + index + 2,
        email: cells[0]!,
        problem: `email ${problemOf(cells[0]!)}`,
        cells,
      })),
    })
  })
  const membersOf = (id: GroupId) =>
    new Set(contacts.filter(({ groupIds }) => groupIds.includes(id)).map((contact) => contact.id))
  const groupOf = (groupName: (typeof groupNames)[number]) => ({
    id: ids[groupName],
    members: membersOf(ids[groupName]),
  })
  const groups = { Customers: groupOf('Customers'), Newsletter: groupOf('Newsletter'), Trial: groupOf('Trial') }
  return {
    groups,
    contacts: contacts.map(({ id, email, firstName, createdAt }) => ({
      ...{ id, email, firstName },
      sinceMs: createdAt.getTime(),
    })),
  }
}

const isIn = (groupIndex: number, n: number) =>
  n % groupNames.length === groupIndex || (groupIndex === 0 && n % 2 === 0)

function problemOf(text: string): string {
  const parsed = parseEmail(text)
  return parsed.ok ? '' : parsed.problem
}

function personOf(n: number) {
  const firstName = firstNames[n % firstNames.length]!
  const lastName = lastNames[n % lastNames.length]!
  return {
    email: `${firstName}.${lastName}@${demoDomain}`.toLowerCase(),
    firstName,
    lastName,
    attributes: { plan: n % 5 === 0 ? 'pro' : 'free', orders: Math.floor(17 * chanceOf(String(n), 'orders')) },
  }
}

export type DemoSegments = { active: SegmentId; quiet: SegmentId }

export async function addSegments(db: Db, organizationId: OrganizationId, createdAt: Date): Promise<DemoSegments> {
  const active = await createSegment(db, organizationId, {
    name: 'Active readers',
    filter: checkFilter({ type: 'engagement', operator: 'did', event: 'emailOpen', within_days: 30 }),
  })
  const quiet = await createSegment(db, organizationId, {
    name: 'Pro customers who stopped clicking',
    filter: checkFilter({
      type: 'all',
      conditions: [
        { type: 'text', field: 'attributes.plan', operator: 'equals', value: 'pro' },
        { type: 'engagement', operator: 'did_not', event: 'emailClick', within_days: 30 },
      ],
    }),
  })
  await datePastSegments(db.statement, organizationId, createdAt)
  return { active: active.id, quiet: quiet.id }
}
