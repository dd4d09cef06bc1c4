import type { Reader, Writer } from '../../platform/db/db.ts'
import { first, hasRows, onlyValue } from '../../platform/db/rows.ts'
import { sql } from '../../platform/db/sql.ts'
import type { FlowId, FlowPartId, OrganizationId } from '../../platform/values/ids.ts'

export type FlowPart = { id: FlowPartId; name: string; html: string; createdAt: Date; updatedAt: Date }

const summary = sql`id, name, created_at, updated_at`
const columns = sql`${summary}, html`

/** Returns undefined if the name is taken. */
export const insertPart = (
  db: Writer,
  organizationId: OrganizationId,
  { id, name, html }: Pick<FlowPart, 'id' | 'name' | 'html'>,
) =>
  first(db<FlowPart>`
    insert into flow_parts (organization_id, id, name, html) values (${organizationId}, ${id}, ${name}, ${html})
    on conflict (organization_id, name) do nothing
    returning ${columns}`)

export const selectParts = (db: Reader, organizationId: OrganizationId) =>
  db<Omit<FlowPart, 'html'>>`select ${summary} from flow_parts where organization_id = ${organizationId} order by name`

export const selectPartsByName = (db: Reader, organizationId: OrganizationId, names: readonly string[]) =>
  db<Pick<FlowPart, 'name' | 'html'>>`
    select name, html from flow_parts where organization_id = ${organizationId} and name = any (${names}::text[])`

export const findPart = (db: Reader, organizationId: OrganizationId, id: FlowPartId) =>
  first(db<FlowPart>`select ${columns} from flow_parts where organization_id = ${organizationId} and id = ${id}`)

export const countParts = (db: Reader, organizationId: OrganizationId) =>
  onlyValue(db<{ count: number }>`select count(*) from flow_parts where organization_id = ${organizationId}`)

export const updatePart = (db: Writer, organizationId: OrganizationId, id: FlowPartId, html: string) =>
  first(db<FlowPart>`
    update flow_parts set html = ${html}, updated_at = now()
    where organization_id = ${organizationId} and id = ${id}
    returning ${columns}`)

export const deletePartRow = (db: Writer, organizationId: OrganizationId, id: FlowPartId) =>
  hasRows(db`delete from flow_parts where organization_id = ${organizationId} and id = ${id} returning true`)

/** Flows whose published version includes the part. */
export const selectFlowsWithPart = (db: Reader, organizationId: OrganizationId, name: string, limit: number) =>
  db<{ id: FlowId; name: string }>`
    select flows.id, flows.name from flows
    join flow_versions versions on versions.organization_id = ${organizationId} and versions.id = flows.version_id
    where flows.organization_id = ${organizationId} and flows.deleted_at is null and flows.status <> 'archived'
      and versions.source ~ ${pattern(name)}
    order by flows.id desc
    limit ${limit}`

/** Names consist of letters, digits, - and _. */
const pattern = (name: string) => `\\{%-?\\s*part\\s+["']${name}["']`
