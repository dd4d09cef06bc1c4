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
