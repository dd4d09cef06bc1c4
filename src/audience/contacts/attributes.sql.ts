import type { Reader } from '../../platform/db/db.ts'
import { sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { isSampled } from '../segments/matches.ts'

export const attributeTypes = ['text', 'number', 'date', 'boolean', 'list'] as const
export type Attribute = { name: string; type: (typeof attributeTypes)[number] }

/** Contacts to read: the newest ones, and as many of the sample, evenly spread over it. */
const contactsMax = 2_000

/**
 * Returns attributes with the type of most of their values, the most frequent first: those of the newest contacts, of a
 * sample of all contacts, and those filled by imports. Finds all attributes of a small organization. In a large one, an
 * attribute that fewer than one in a thousand contacts have may be missing. Takes 100 ms with a million contacts.
 */
export const selectAttributes = (db: Reader, organizationId: OrganizationId, limit: number) =>
  // The ids come from indexes. Without `offset 0`, the planner may join them with all contacts, if it has no statistics
  // about a large organization yet.
  db<Attribute>`
    with newest as (
      select id from contacts where organization_id = ${organizationId} order by id desc limit ${contactsMax}
    ), sampled as (
      select id, row_number() over (order by id) as position, count(*) over () as size from contacts
      where organization_id = ${organizationId} and ${isSampled(sql`id`)}
    ), chosen as (
      select id from newest
      union
      select id from sampled where position % greatest(1, size / ${contactsMax}) = 0
    ), found as (
      select attribute.key as name, case jsonb_typeof(attribute.value)
          when 'number' then 'number'
          when 'boolean' then 'boolean'
          when 'array' then 'list'
          else case when attribute.value #>> '{}' ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' then 'date' else 'text' end
        end as type
      from chosen
      cross join lateral (
        select attributes from contacts
        where contacts.organization_id = ${organizationId} and contacts.id = chosen.id
        offset 0
      ) as contact
      cross join jsonb_each(contact.attributes) as attribute
      union all
      select filled ->> 0 as name, 'text' as type from imports
      cross join jsonb_array_elements(imports.progress #> '{layout,columns,attributes}') as filled
      where imports.organization_id = ${organizationId} and imports.undo is null
    )
    select name, mode() within group (order by type) as type from found
    group by name
    order by count(*) desc, name
    limit ${limit}`
