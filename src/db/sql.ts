import { binaryArray } from './arrays.ts'

// Query text with bind parameters, written as it reads: sql`select … where id = ${id}`. A nested piece of sql is spliced
// in; every other value becomes a parameter, so there is no way to write a value into the text.

export type Sql = { readonly text: string; readonly values: readonly unknown[] }

class Query implements Sql {
  readonly text: string
  readonly values: readonly unknown[]
  constructor(text: string, values: readonly unknown[]) {
    this.text = text
    this.values = values
  }
}

/** Texts of call sites without nested pieces, which is nearly all of them. */
const plainTexts = new WeakMap<TemplateStringsArray, string>()

const arrayCast = /^::([a-z0-9]+)\[\]/

/** An array goes out in the form of the type that it is cast to, where we know that form. */
function parameter(value: unknown, textBehind: string): unknown {
  if (!Array.isArray(value)) return value
  const elementType = arrayCast.exec(textBehind)?.[1]
  return (elementType && binaryArray(elementType, value)) ?? value
}

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
  return new Query(text, all)
}

/** Conditions that all must hold; none means true. */
export function and(conditions: readonly Sql[]): Sql {
  return conditions.reduce((joined, condition) => sql`${joined} and ${condition}`, sql`true`)
}

/** Pieces with commas between them. */
export function list(pieces: readonly Sql[]): Sql {
  const commas = pieces.map((_, index) => (index === 0 ? '' : ', '))
  return sql([...commas, ''] as unknown as TemplateStringsArray, ...pieces)
}
