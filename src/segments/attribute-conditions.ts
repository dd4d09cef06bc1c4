import { containsInAnyCase, endsWithInAnyCase, equalsInAnyCase, startsWithInAnyCase } from '../db/any-case.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { OrganizationId } from '../values/ids.ts'
import {
  attributeOf,
  type BooleanCondition,
  type DateCondition,
  type ListCondition,
  type NumberCondition,
  type TextCondition,
} from './filter.ts'

// Attributes are JSON of any type: a comparison is false for values that do not have its type, and the negative
// operators are the opposite of the positive ones, so they match contacts without a value.

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

const textOf = (name: string): Sql => sql`contacts.attributes ->> ${name}::text`

export function matchesText(text: Sql, { operator, value = '' }: Pick<TextCondition, 'operator' | 'value'>): Sql {
  switch (operator) {
    case 'equals':
      return equalsInAnyCase(text, value)
    case 'not_equals':
      return negated(equalsInAnyCase(text, value))
    case 'contains':
      return containsInAnyCase(text, value)
    case 'not_contains':
      return negated(containsInAnyCase(text, value))
    case 'starts_with':
      return startsWithInAnyCase(text, value)
    case 'ends_with':
      return endsWithInAnyCase(text, value)
    case 'is_set':
      return isSet(text)
    case 'is_not_set':
      return isNotSet(text)
  }
}

/** The digits are limited, so that every text that matches can be converted. */
const numeric = '^[+-]?([0-9]{1,200}([.][0-9]{1,200})?|[.][0-9]{1,200})$'

export function matchesNumber(name: string, { operator, value = 0 }: NumberCondition): Sql {
  const text = textOf(name)
  const number = sql`(case jsonb_typeof(contacts.attributes -> ${name}::text)
    when 'number' then (contacts.attributes -> ${name}::text)::numeric
    when 'string' then case when btrim(${text}) ~ ${numeric} then btrim(${text})::numeric end end)`
  const wanted = sql`${String(value)}::numeric`
  switch (operator) {
    case 'equals':
      return sql`${number} = ${wanted}`
    case 'not_equals':
      return negated(sql`${number} = ${wanted}`)
    case 'greater_than':
      return sql`${number} > ${wanted}`
    case 'at_least':
      return sql`${number} >= ${wanted}`
    case 'less_than':
      return sql`${number} < ${wanted}`
    case 'at_most':
      return sql`${number} <= ${wanted}`
    case 'is_set':
      return isSet(text)
    case 'is_not_set':
      return isNotSet(text)
  }
}

/** Days begin and end in the time zone of the organization. */
export function matchesDate(context: Context, condition: DateCondition): Sql {
  return condition.field === 'created_at'
    ? createdAt(context, condition)
    : dateAttribute(context, attributeOf(condition.field), condition)
}

const zoneOf = ({ organizationId }: Context): Sql =>
  sql`(select organizations.timezone from organizations where organizations.id = ${organizationId})`

function createdAt(context: Context, { operator, value, days = 0 }: DateCondition): Sql {
  const startOfDay = (later: number) =>
    sql`((${value}::date + ${later}::int)::timestamp at time zone ${zoneOf(context)})`
  const inLastDays = sql`contacts.created_at >= ${context.now}::timestamptz - ${days}::int * interval '24 hours'`
  switch (operator) {
    case 'on':
      return sql`(contacts.created_at >= ${startOfDay(0)} and contacts.created_at < ${startOfDay(1)})`
    case 'before':
      return sql`contacts.created_at < ${startOfDay(0)}`
    case 'after':
      return sql`contacts.created_at >= ${startOfDay(1)}`
    case 'in_last_days':
      return inLastDays
    case 'not_in_last_days':
      return negated(inLastDays)
    case 'is_set':
      return sql`true`
    case 'in_next_days':
    case 'is_not_set':
      return sql`false`
  }
}

/** Compares the texts of days: a value such as 2026-02-31, which is no day, then has an order and causes no error. */
function dateAttribute(context: Context, name: string, { operator, value, days = 0 }: DateCondition): Sql {
  const text = textOf(name)
  const day = sql`(case when ${text} ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' then left(${text}, 10) end) collate "C"`
  const daysFromToday = (count: number) =>
    sql`to_char((${context.now}::timestamptz at time zone ${zoneOf(context)})::date + ${count}::int, 'YYYY-MM-DD')`
  const inLastDays = sql`${day} > ${daysFromToday(-days)} and ${day} <= ${daysFromToday(0)}`
  switch (operator) {
    case 'on':
      return sql`${day} = ${value}`
    case 'before':
      return sql`${day} < ${value}`
    case 'after':
      return sql`${day} > ${value}`
    case 'in_last_days':
      return sql`(${inLastDays})`
    case 'not_in_last_days':
      return negated(inLastDays)
    case 'in_next_days':
      return sql`(${day} >= ${daysFromToday(0)} and ${day} < ${daysFromToday(days)})`
    case 'is_set':
      return isSet(text)
    case 'is_not_set':
      return isNotSet(text)
  }
}

export function matchesBoolean(name: string, { operator }: BooleanCondition): Sql {
  const text = textOf(name)
  switch (operator) {
    case 'is_true':
      return sql`lower(${text}) in ('true', 'yes', '1')`
    case 'is_false':
      return sql`lower(${text}) in ('false', 'no', '0')`
    case 'is_set':
      return isSet(text)
    case 'is_not_set':
      return isNotSet(text)
  }
}

export function matchesList(name: string, { operator, value = '' }: ListCondition): Sql {
  const list = sql`contacts.attributes -> ${name}::text`
  // A text is a list of entries separated by commas. Without entries it is empty, as every other value.
  const entries = sql`(select btrim(entry) as entry from jsonb_array_elements_text(case jsonb_typeof(${list})
    when 'array' then ${list} when 'string' then to_jsonb(string_to_array(${textOf(name)}, ',')) else '[]' end) as entry)`
  const contains = sql`exists (select from ${entries} as entries where ${equalsInAnyCase(sql`entry`, value.trim())})`
  const isNotEmpty = sql`exists (select from ${entries} as entries where entry <> '')`
  switch (operator) {
    case 'contains':
      return contains
    case 'not_contains':
      return sql`not ${contains}`
    case 'is_empty':
      return sql`not ${isNotEmpty}`
    case 'is_not_empty':
      return isNotEmpty
  }
}
