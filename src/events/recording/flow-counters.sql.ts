import { insertRows } from '../../platform/db/cluster/insert-rows.ts'
import type { Reader, Tx } from '../../platform/db/db.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { EventTag } from '../../platform/values/event-types.ts'
import type { FlowId, FlowVersionId, MessageId, OrganizationId } from '../../platform/values/ids.ts'
import type { CounterName } from './counters.sql.ts'

export type DimensionKind = 'domain' | 'link' | 'reason' | 'version'
export type Dimension = { kind: DimensionKind; value: string }

/** How many values of each kind are counted individually for a flow on a UTC day. */
export const valuesMax: Record<DimensionKind, number> = { domain: 50, link: 50, reason: 50, version: 20 }

/** The same for `known.kind`, without parameters: a distributed database accepts none in `on conflict`. */
const valuesMaxOfKind = sql`case when known.kind = 'version' then 20 else 50 end`

/** The domain that an address belongs to; null for the empty address of an erased contact. */
export const domainOf = (email: Sql): Sql => sql`nullif(lower(substring(${email} from '[^@]*$')), '')`

/**
 * Returns what is counted of the messages of events: their version and the domain of their recipient. Adds the tags of
 * messages that have some to `tagsOf`.
 */
export async function findCountedMessages(
  db: Reader,
  events: readonly { organizationId: OrganizationId; messageId: MessageId | null }[],
  tagsOf: Map<MessageId, EventTag[]> = new Map(),
): Promise<Map<MessageId, readonly Dimension[]>> {
  const keys = new Map<MessageId, OrganizationId>()
  for (const { organizationId, messageId } of events) if (messageId) keys.set(messageId, organizationId)
  if (keys.size === 0) return new Map()
  const rows = await db<CountedMessage>`
    select message.id, message.flow_version_id as version_id, ${domainOf(sql`message.email`)} as domain, message.tags
    from unnest(${[...keys.values()]}::uuid[], ${[...keys.keys()]}::uuid[]) as key (organization_id, id)
    -- "offset 0" keeps the planner from scanning the whole table while its statistics are out of date.
    cross join lateral (
      select id, flow_version_id, email, tags from messages
      where messages.organization_id = key.organization_id and messages.id = key.id
      offset 0
    ) as message`
  return new Map(
    rows.map((message) => {
      if (message.tags) tagsOf.set(message.id, message.tags)
      return [message.id, dimensionsOf(message)]
    }),
  )
}

type CountedMessage = {
  id: MessageId
  versionId: FlowVersionId
  domain: string | null
  tags: EventTag[] | null
}

export function dimensionsOf({
  versionId,
  domain,
}: Pick<CountedMessage, 'versionId' | 'domain'>): readonly Dimension[] {
  const version: Dimension = { kind: 'version', value: versionId }
  return domain === null ? [version] : [version, { kind: 'domain', value: domain }]
}

export type CountedValues = {
  organizationId: OrganizationId
  flowId: FlowId
  kind: DimensionKind
  /** As YYYY-MM-DD. */
  day: string
  counted: string[]
}

const keysOf = (rows: readonly Omit<CountedValues, 'counted'>[]): Sql => sql`
  ${rows.map((row) => row.organizationId)}::uuid[],
  ${rows.map((row) => row.flowId)}::uuid[],
  ${rows.map((row) => row.kind)}::text[],
  ${rows.map((row) => row.day)}::date[]`

export const selectCountedValues = (db: Reader, keys: readonly Omit<CountedValues, 'counted'>[]) =>
  db<CountedValues>`
    select stored.organization_id, stored.flow_id, stored.kind, stored.day::text, stored.counted
    from unnest(${keysOf(keys)}) as key (organization_id, flow_id, kind, day)
    join flow_counter_values as stored on stored.organization_id = key.organization_id
      and stored.flow_id = key.flow_id and stored.kind = key.kind and stored.day = key.day`

/** Adds values while there is room, and returns all values that are counted. The rows must be in key order. */
export const addCountedValues = (tx: Tx, rows: readonly CountedValues[]) =>
  tx<CountedValues>`
    insert into flow_counter_values as known (organization_id, flow_id, kind, day, counted)
    select organization_id, flow_id, kind, day, array(select jsonb_array_elements_text(counted::jsonb))
    from unnest(${keysOf(rows)}, ${rows.map(({ counted }) => JSON.stringify(counted))}::text[])
      as row (organization_id, flow_id, kind, day, counted)
    on conflict (organization_id, flow_id, kind, day) do update
    set counted = known.counted || array(
      select value from unnest(excluded.counted) as value
      where value <> all (known.counted)
      limit greatest(0, ${valuesMaxOfKind} - cardinality(known.counted)))
    returning organization_id, flow_id, kind, day::text, counted`

export type FlowCounterRow = {
  organizationId: OrganizationId
  flowId: FlowId
  grain: 'day' | 'quarter'
  kind: DimensionKind
  startsAt: Date
  value: string
  eventName: CounterName
  total: number
  uniques: number
  machine: number
}

/** The rows must be in key order. */
export function addToFlowCounters(tx: Tx, rows: readonly FlowCounterRow[]): void {
  if (rows.length === 0) return
  tx.send`
    insert into flow_counters (organization_id, flow_id, grain, kind, starts_at, value, event_name, total, uniques, machine)
    ${insertRows(tx, {
      organization_id: ['uuid', rows.map((row) => row.organizationId)],
      flow_id: ['uuid', rows.map((row) => row.flowId)],
      grain: ['text', rows.map((row) => row.grain)],
      kind: ['text', rows.map((row) => row.kind)],
      starts_at: ['timestamptz', rows.map((row) => row.startsAt)],
      value: ['text', rows.map((row) => row.value)],
      event_name: ['text', rows.map((row) => row.eventName)],
      total: ['int8', rows.map((row) => row.total)],
      uniques: ['int8', rows.map((row) => row.uniques)],
      machine: ['int8', rows.map((row) => row.machine)],
    })}
    on conflict (organization_id, flow_id, grain, kind, starts_at, value, event_name) do update
    set total = flow_counters.total + excluded.total,
      uniques = flow_counters.uniques + excluded.uniques,
      machine = flow_counters.machine + excluded.machine`
}
