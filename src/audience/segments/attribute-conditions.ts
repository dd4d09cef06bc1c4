import {
  containsInAnyCase,
  endsWithInAnyCase,
  equalsInAnyCase,
  startsWithInAnyCase,
} from '../../platform/db/any-case.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { attributeOf } from './attribute-fields.ts'
import type { BooleanCondition, DateCondition, ListCondition, NumberCondition, TextCondition } from './filter.ts'

// Attributes are JSON of any type: a comparison is false for values that do not have its type, and the negative
// operators are the opposite of the positive ones, so they match contacts without a value. Each function has one
// condition for each operator.

/** `now` is the end of periods such as "in the last 30 days". */
export type Context = {
  organizationId: OrganizationId
  now: Date
  /** A condition on the ids of the contacts that matter. */
  among: (contactId: Sql) => Sql
}

const negated = (condition: Sql): Sql => sql`(${condition}) is not true`
const isSet = (text: Sql): Sql => sql`coalesce(${text}, '') <> ''`
const isNotSet = (text: Sql): Sql => sql`coalesce(${text}, '') = ''`
const presence = (text: Sql) => ({ is_set: isSet(text), is_not_set: isNotSet(text) })

const textOf = (name: string): Sql => sql`contacts.attributes ->> ${name}::text`

export function matchesText(text: Sql, { operator, value = '' }: Pick<TextCondition, 'operator' | 'value'>): Sql {
  const conditions: Record<TextCondition['operator'], Sql> = {
    equals: equalsInAnyCase(text, value),
    not_equals: negated(equalsInAnyCase(text, value)),
    contains: containsInAnyCase(text, value),
    not_contains: negated(containsInAnyCase(text, value)),
    starts_with: startsWithInAnyCase(text, value),
    ends_with: endsWithInAnyCase(text, value),
    ...presence(text),
  }
  return conditions[operator]
}

/** The digits are limited, so that every text that matches can be converted. */
const numeric = '^[+-]?([0-9]{1,200}([.][0-9]{1,200})?|[.][0-9]{1,200})$'

export function matchesNumber(name: string, { operator, value = 0 }: NumberCondition): Sql {
  const text = textOf(name)
  const type = sql`jsonb_typeof(contacts.attributes -> ${name}::text)`
  const number = sql`(case when ${type} = 'number' then (contacts.attributes -> ${name}::text)::numeric
    when ${type} = 'string' then case when btrim(${text}) ~ ${numeric} then btrim(${text})::numeric end end)`
  const wanted = sql`${String(value)}::numeric`
  const conditions: Record<NumberCondition['operator'], Sql> = {
    equals: sql`${number} = ${wanted}`,
    not_equals: negated(sql`${number} = ${wanted}`),
    greater_than: sql`${number} > ${wanted}`,
    at_least: sql`${number} >= ${wanted}`,
    less_than: sql`${number} < ${wanted}`,
    at_most: sql`${number} <= ${wanted}`,
    ...presence(text),
  }
  return conditions[operator]
}

/** Days begin and end in the time zone of the organization. */
export function matchesDate(context: Context, condition: DateCondition): Sql {
  const { field, operator } = condition
  return (field === 'created_at' ? createdAt(context, condition) : dateAttribute(context, condition))[operator]
}

const zoneOf = ({ organizationId }: Context): Sql =>
  sql`(select organizations.timezone from organizations where organizations.id = ${organizationId})`

type DateConditions = Record<DateCondition['operator'], Sql>

function createdAt(context: Context, { value, days = 0 }: DateCondition): DateConditions {
  const startOfDay = (later: number) =>
    sql`((${value}::date + ${later}::int)::timestamp at time zone ${zoneOf(context)})`
  const inLastDays = sql`contacts.created_at >= ${context.now}::timestamptz - ${days}::int * interval '24 hours'`
  return {
    on: sql`(contacts.created_at >= ${startOfDay(0)} and contacts.created_at < ${startOfDay(1)})`,
    before: sql`contacts.created_at < ${startOfDay(0)}`,
    after: sql`contacts.created_at >= ${startOfDay(1)}`,
    in_last_days: inLastDays,
    not_in_last_days: negated(inLastDays),
    in_next_days: sql`false`,
    is_set: sql`true`,
    is_not_set: sql`false`,
  }
}

/** Compares days as texts, so that an invalid date such as 2026-02-31 cannot fail the query. */
function dateAttribute(context: Context, { field, value, days = 0 }: DateCondition): DateConditions {
  const text = textOf(attributeOf(field))
  const day = sql`(case when ${text} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' then left(${text}, 10) end) collate "C"`
  const daysFromToday = (count: number) =>
    sql`to_char((${context.now}::timestamptz at time zone ${zoneOf(context)})::date + ${count}::int, 'YYYY-MM-DD')`
  const inLastDays = sql`${day} > ${daysFromToday(-days)} and ${day} <= ${daysFromToday(0)}`
  return {
    on: sql`${day} = ${value}`,
    before: sql`${day} < ${value}`,
    after: sql`${day} > ${value}`,
    in_last_days: sql`(${inLastDays})`,
    not_in_last_days: negated(inLastDays),
    in_next_days: sql`(${day} >= ${daysFromToday(0)} and ${day} < ${daysFromToday(days)})`,
    ...presence(text),
  }
}

export function matchesBoolean(name: string, { operator }: BooleanCondition): Sql {
  const text = textOf(name)
  const conditions: Record<BooleanCondition['operator'], Sql> = {
    is_true: sql`lower(${text}) in ('true', 'yes', '1')`,
    is_false: sql`lower(${text}) in ('false', 'no', '0')`,
    ...presence(text),
  }
  return conditions[operator]
}

export function matchesList(name: string, { operator, value = '' }: ListCondition): Sql {
  const list = sql`contacts.attributes -> ${name}::text`
  // A text is a list of entries separated by commas. Without entries it is empty, as every other value.
  const entries = sql`(select btrim(entry) as entry from jsonb_array_elements_text(case
    when jsonb_typeof(${list}) = 'array' then ${list} when jsonb_typeof(${list}) = 'string' then to_jsonb(string_to_array(${textOf(name)}, ',')) else '[]' end) as entry)`
  const contains = sql`exists (select from ${entries} as entries where ${equalsInAnyCase(sql`entry`, value.trim())})`
  const isNotEmpty = sql`exists (select from ${entries} as entries where entry <> '')`
  const conditions: Record<ListCondition['operator'], Sql> = {
    contains,
    not_contains: sql`not ${contains}`,
    is_empty: sql`not ${isNotEmpty}`,
    is_not_empty: isNotEmpty,
  }
  return conditions[operator]
}
