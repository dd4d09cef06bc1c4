export type TableEntry = { name: string; columns: string[] }
/** `bound` is null for the default partition. */
export type PartitionEntry = { name: string; parent: string; bound: { from: string; to: string } | null }
export type SequenceEntry = { name: string; value: string; isCalled: boolean }

/** What the tables of a backup are. */
export type Manifest = {
  format: 'waxwing backup 1'
  createdAt: string
  waxwing: string
  postgres: string
  /** The migrations of the schema. */
  migrations: { number: number; name: string }[]
  tables: TableEntry[]
  partitions: PartitionEntry[]
  sequences: SequenceEntry[]
}

/** The number of rows of each table. Without it, the backup is incomplete. */
export type End = { rows: Record<string, number> }

type Unchecked = Record<string, unknown>

const isObject = (value: unknown): value is Unchecked => typeof value === 'object' && value !== null
const isText = (value: unknown): value is string => typeof value === 'string'
const isListOf = (value: unknown, isItem: (item: Unchecked) => boolean): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && isItem(item))

/** Only the format of a backup by a newer version of Waxwing is known. */
export const isManifest = (value: unknown): value is Manifest =>
  isObject(value) &&
  isText(value.createdAt) &&
  isText(value.waxwing) &&
  isListOf(value.migrations, ({ number, name }) => Number.isInteger(number) && isText(name)) &&
  isListOf(value.tables, ({ name, columns }) => isText(name) && Array.isArray(columns) && columns.every(isText)) &&
  isListOf(
    value.partitions,
    ({ name, parent, bound }) =>
      isText(name) && isText(parent) && (bound === null || (isObject(bound) && isText(bound.from) && isText(bound.to))),
  ) &&
  isListOf(value.sequences, (each) => isText(each.name) && isText(each.value) && typeof each.isCalled === 'boolean')

export const isEnd = (value: unknown): value is End =>
  isObject(value) && isObject(value.rows) && Object.values(value.rows).every(Number.isInteger)
