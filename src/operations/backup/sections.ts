import { type ByteReader, blockOf, truncated } from './byte-reader.ts'

/** Larger pieces are split. */
const blockBytesMax = 1024 * 1024

export type TableEntry = { name: string; columns: string[] }
/** `bound` is null for the default partition. */
export type PartitionEntry = { name: string; parent: string; bound: { from: string; to: string } | null }
export type SequenceEntry = { name: string; value: string; isCalled: boolean }

/** What the tables of a backup are. */
export type Manifest = {
  section: 'manifest'
  createdAt: string
  waxwing: string
  postgres: string
  /** The migrations of the schema. */
  migrations: { number: number; name: string }[]
  tables: TableEntry[]
  partitions: PartitionEntry[]
  sequences: SequenceEntry[]
}

/** A section is a line of JSON and a number of blocks. They follow in this order. */
export type Section =
  /** JSON: the current and the previous APP_SECRET. */
  | { section: 'secret' }
  /** A file with tracked hits that were not recorded yet. */
  | { section: 'spool' }
  | Manifest
  /** The rows of a table in the text format of COPY. */
  | { section: 'table'; name: string }
  /** Without it, the backup is incomplete. */
  | { section: 'end'; rows: Record<string, number> }

export async function* encodeSection(section: Section, content?: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from(`${JSON.stringify(section)}\n`)
  for await (const piece of content ?? []) {
    for (let from = 0; from < piece.length; from += blockBytesMax)
      yield blockOf(piece.subarray(from, from + blockBytesMax))
  }
  yield blockOf(Buffer.alloc(0))
}

export type OpenSection = { section: Section; content: AsyncIterable<Buffer> }

/** Yields the sections up to the end. The content of each must be read before the next one is requested. */
export async function* decodeSections(reader: ByteReader): AsyncGenerator<OpenSection> {
  for (;;) {
    const section = parseLine(await reader.line())
    yield { section, content: reader.blocks(blockBytesMax) }
    if (section.section === 'end') return
  }
}

function parseLine(line: string): Section {
  try {
    return JSON.parse(line) as Section
  } catch {
    throw truncated()
  }
}
