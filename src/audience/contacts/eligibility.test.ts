import { expect, test } from 'vitest'
import { startTestApp } from '../../../test/support/test-app.ts'
import { sql } from '../../platform/db/sql.ts'
import { newId, type OrganizationId, parseId } from '../../platform/values/ids.ts'

import { ineligibleReason, isSuppressed, mayReceive, type Subscription, selectStandings } from './eligibility.ts'

const subscriptions: Subscription[] = ['subscribed', 'not_subscribed', 'unsubscribed']
const reasons = ['hard_bounce', 'complaint', 'manual', 'unsubscribe']

test('SQL and TypeScript agree on who may get an email', async () => {
  await using app = await startTestApp({}, ['serve'])
  const organizationId = parseId('org', app.organizationId) as OrganizationId
  // Every subscription with every set of suppressions.
  const sets = Array.from({ length: 2 ** reasons.length }, (_, set) => reasons.filter((_, at) => set & (1 << at)))
  const contacts = subscriptions.flatMap((subscription) =>
    sets.map((set, at) => ({
      id: newId('con'),
      email: `${subscription}${at}@example.com`,
      subscription,
      reasons: set,
    })),
  )
  await app.db.statement`
    insert into contacts (organization_id, id, email, email_key, subscription)
    select ${organizationId}::uuid, id, email, email, subscription
    from unnest(${contacts.map(({ id }) => id)}::uuid[], ${contacts.map(({ email }) => email)}::text[],
      ${contacts.map(({ subscription }) => subscription)}::text[]) as contact (id, email, subscription)`
  const suppressions = contacts.flatMap(({ email, reasons }) => reasons.map((reason) => ({ email, reason })))
  await app.db.statement`
    insert into suppressions (organization_id, email, email_key, reason)
    select ${organizationId}::uuid, email, email, reason
    from unnest(${suppressions.map(({ email }) => email)}::text[], ${suppressions.map(({ reason }) => reason)}::text[])
      as suppression (email, reason)`

  const ids = contacts.map(({ id }) => id)
  const standings = await selectStandings(app.db, organizationId, ids)
  expect(standings).toHaveLength(contacts.length)
  for (const standing of standings) {
    const { subscription, reasons } = contacts.find(({ id }) => id === standing.id)!
    const first = reasons.filter((reason) => reason !== 'unsubscribe').sort()[0] ?? null
    expect(standing).toEqual({ id: standing.id, subscription, suppressedBy: first })
  }
  for (const kind of ['marketing', 'transactional'] as const) {
    const rows = await app.db.run<{ id: string }>(sql`
      select contacts.id from contacts
      where contacts.organization_id = ${organizationId} and contacts.id = any (${ids}::uuid[]) and ${mayReceive(kind, isSuppressed(organizationId))}`)
    const expected = standings.filter((standing) => ineligibleReason({ kind }, standing) === null)
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)))
    expect(expected.length).toBeGreaterThan(0)
  }
})
