import { binaryArray } from './arrays.ts'

// Query text with bind parameters: sql`select … where id = ${id}`. Nested sql fragments are spliced in; every other
// value becomes a parameter, so values can never become part of the text.

export type Sql = {
  readonly text: string
  readonly values: readonly unknown[]
  /** True if the text depends on a number of rows. Such a statement is not prepared. */
  readonly hasRowList?: boolean
}

class Query implements Sql {
  readonly text: string
  readonly values: readonly unknown[]
  readonly hasRowList: boolean
  constructor(text: string, values: readonly unknown[], hasRowList = false) {
    this.text = text
    this.values = values
    this.hasRowList = hasRowList
  }
}

/** Cached texts of call sites without nested fragments, which are nearly all. */
const plainTexts = new WeakMap<TemplateStringsArray, string>()

const arrayCast = /^::([a-z0-9]+)\[\]/

/** Arrays are sent in binary format if the type they are cast to is known. */
export const arrayParameter = (elementType: string | undefined, values: readonly unknown[]): unknown =>
  (elementType && binaryArray(elementType, values)) ?? values

const parameter = (value: unknown, textAfter: string): unknown =>
  Array.isArray(value) ? arrayParameter(arrayCast.exec(textAfter)?.[1], value) : value

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  if (!values.some((value) => value instanceof Query)) {
    let text = plainTexts.get(strings)
    if (text === undefined) {
      text = strings.reduce((joined, part, index) => `${joined}$${index}${part}`)
      plainTexts.set(strings, text)
    }
    return new Query(
      text,
      values.map((value, index) => parameter(value, strings[index + 1]!)),
    )
  }

  let text = strings[0]!
  const all: unknown[] = []
  values.forEach((value, index) => {
    if (value instanceof Query) {
      text += value.text.replace(/\$(\d+)/g, (_, number) => `$${Number(number) + all.length}`)
      all.push(...value.values)
    } else {
      all.push(parameter(value, strings[index + 1]!))
      text += `$${all.length}`
    }
    text += strings[index + 1]!
  })
  return new Query(
    text,
    all,
    values.some((value) => value instanceof Query && value.hasRowList),
  )
}

/** For a text that is built from the names and types of columns (platform/db/cluster/insert-rows.ts). */
export const sqlOf = (text: string, values: readonly unknown[], { hasRowList = false } = {}): Sql =>
  new Query(text, values, hasRowList)

/** Joins conditions with `and`. Returns `true` if there are none. */
export function and(conditions: readonly Sql[]): Sql {
  return conditions.reduce((joined, condition) => sql`${joined} and ${condition}`, sql`true`)
}
