import type { Reader } from '../db/db.ts'
import { sql } from '../db/sql.ts'
import type { EventName } from '../event-types.ts'
import type { FlowId, OrganizationId } from '../ids.ts'
import { allFlows } from './counters.sql.ts'

export async function flowExists(db: Reader, organizationId: OrganizationId, id: FlowId): Promise<boolean> {
  return (await db`select from flows where organization_id = ${organizationId} and id = ${id}`).length > 0
}

/** Newest first; all of them, or the one that is asked for. */
export async function selectFlowNames(
  db: Reader,
  organizationId: OrganizationId,
  only: FlowId | undefined,
  limit: number,
): Promise<{ id: FlowId; name: string }[]> {
  return db<{ id: FlowId; name: string }>`
    select id, name from flows
    where organization_id = ${organizationId} and (${only ?? null}::uuid is null or id = ${only ?? null})
    order by id desc
    limit ${limit}`
}

export type Checklist = { sent: boolean; opened: boolean; clicked: boolean; apiKey: boolean; webhook: boolean }

/** Which first steps an organization has taken. */
export async function findChecklist(db: Reader, organizationId: OrganizationId): Promise<Checklist> {
  const happened = (eventName: EventName) => sql`
    exists (
      select from event_counters
      where organization_id = ${organizationId} and event_name = ${eventName} and flow_id = ${allFlows} and grain = 'day')`
  const [row] = await db<Checklist>`
    select ${happened('emailSent')} as sent, ${happened('emailOpen')} as opened, ${happened('emailClick')} as clicked,
      exists (select from api_keys where organization_id = ${organizationId} and revoked_at is null) as api_key,
      exists (select from webhooks where organization_id = ${organizationId}) as webhook`
  return row!
}
