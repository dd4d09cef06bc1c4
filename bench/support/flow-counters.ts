import { valuesMax } from '../../src/events/recording/flow-counters.sql.ts'
import type { Db } from '../../src/platform/db/db.ts'
import type { FlowId, OrganizationId } from '../../src/platform/values/ids.ts'

/** How many links and domains have events in a quarter of an hour. */
const valuesOfQuarter = 5
const quartersOfDay = 96
/** Each statement has to end within 30 seconds. */
const daysAtOnce = 30

/**
 * Writes the counters of a flow over these days, with as many links and domains as are counted on a day. The numbers do
 * not matter, only the rows.
 */
export async function fillFlowCounters(
  db: Db,
  organizationId: OrganizationId,
  flowId: FlowId,
  days: number,
): Promise<void> {
  const fill = (grain: 'day' | 'quarter', step: string, from: number, until: number, values: number) => db.statement`
    insert into flow_counters (organization_id, flow_id, grain, kind, starts_at, value, event_name, total, uniques, machine)
    select ${organizationId}, ${flowId}, ${grain}, kind.name,
      date_bin(${step}::interval, now(), '2000-01-01Z') - number * ${step}::interval,
      'https://' || kind.name || value || '.example/', event.name, 5, 4, 1
    from generate_series(${from}::int, ${until - 1}::int) as number
    cross join generate_series(1, ${values}::int) as value
    cross join (values ('link', '{emailClick}'::text[]), ('domain', '{emailSent,emailOpen,emailClick,emailHardBounce}'))
      as kind (name, events)
    cross join unnest(kind.events) as event (name)`
  await fill('day', '1 day', 0, days, valuesMax.link)
  for (let day = 0; day < days; day += daysAtOnce)
    await fill('quarter', '15 minutes', day * quartersOfDay, (day + daysAtOnce) * quartersOfDay, valuesOfQuarter)
  await db.statement.script('vacuum analyze flow_counters')
}
