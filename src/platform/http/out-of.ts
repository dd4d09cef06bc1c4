import type { Static, TObject } from 'typebox'
import { type IdOf, type PlainText, type Prefix, toText } from '../values/ids.ts'

type Camel<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name

const camelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** The fields of a request in camelCase. */
export type FieldsOf<Schema extends TObject> = {
  [Name in keyof Static<Schema> as Camel<Name & string>]: Static<Schema>[Name]
}

/** Returns a function that renames the fields of a request to camelCase. Omitted fields stay omitted. */
export function fieldsIn<Schema extends TObject>(schema: Schema): (body: Static<Schema>) => FieldsOf<Schema> {
  const names = Object.keys(schema.properties)
  return (body) => {
    const values = body as Record<string, unknown>
    const given = names.filter((name) => values[name] !== undefined)
    return Object.fromEntries(given.map((name) => [camelCase(name), values[name]])) as FieldsOf<Schema>
  }
}

/** The column of a field: a time instead of its text. Ids have to be named, since they are written with their prefix. */
type Column<Value> = Value extends string ? (string extends Value ? PlainText | Date : Value) : Value

type Ids<Data> = { [Name in keyof Data]?: Prefix }
type Computed<Data> = { [Name in keyof Data]?: (row: never) => Data[Name] }

type RowFor<Data, Given, Made> = {
  [Name in Exclude<keyof Data, keyof Made> & string as Camel<Name>]: Name extends keyof Given
    ? Given[Name] extends Prefix
      ? IdOf[Given[Name]] | Extract<Data[Name], null>
      : never
    : Column<Data[Name]>
} & (Made[keyof Made] extends (row: infer Row) => unknown ? Row : unknown)

/**
 * Returns a function that turns a row into the data of a response: the fields of the schema, from columns of the same names in
 * camelCase. `ids` are the fields with ids, and `computed` those that are not a column.
 */
export function outOf<
  Schema extends TObject,
  const Given extends Ids<Static<Schema>>,
  Made extends Computed<Static<Schema>> = Record<never, never>,
>(schema: Schema, ids: Given, computed?: Made): (row: RowFor<Static<Schema>, Given, Made>) => Static<Schema> {
  const fields = Object.keys(schema.properties).map((name) => ({
    name,
    column: camelCase(name),
    prefix: ids[name as keyof Given] as Prefix | undefined,
    compute: (computed as Record<string, (row: unknown) => unknown> | undefined)?.[name],
  }))
  return (row) => {
    const data: Record<string, unknown> = {}
    for (const { name, column, prefix, compute } of fields)
      data[name] = compute ? compute(row) : shown((row as Record<string, unknown>)[column], prefix)
    return data as Static<Schema>
  }
}

function shown(value: unknown, prefix: Prefix | undefined): unknown {
  if (value instanceof Date) return value.toISOString()
  return prefix && value ? toText(prefix, value as never) : value
}
