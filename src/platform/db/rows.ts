// The result of a single statement, for functions that run no other.

/** Returns the first row, or undefined if there is none. */
export const first = async <Row>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0]

/** Returns the row of a statement that always returns one. */
export const only = async <Row>(rows: Promise<Row[]>): Promise<Row> => (await rows)[0]!

type Single<Value> = Record<string, Value>
const columnOf = <Value>(row: Single<Value>): Value => Object.values(row)[0]!

/** Returns the column of the first row, or undefined if there is none. */
export const firstValue = async <Value>(rows: Promise<Single<Value>[]>): Promise<Value | undefined> =>
  (await rows).map(columnOf)[0]

/** Returns the column of the row, of a statement that always returns one. */
export const onlyValue = async <Value>(rows: Promise<Single<Value>[]>): Promise<Value> => columnOf((await rows)[0]!)

/** Returns the column of all rows. */
export const allValues = async <Value>(rows: Promise<Single<Value>[]>): Promise<Value[]> => (await rows).map(columnOf)

/** Returns whether the statement found or changed a row. */
export const hasRows = async (rows: Promise<unknown[]>): Promise<boolean> => (await rows).length > 0

/** Returns the number of rows that the statement found or changed. */
export const countRows = async (rows: Promise<unknown[]>): Promise<number> => (await rows).length
