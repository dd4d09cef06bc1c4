import { type Static, Type } from 'typebox'
import { Named, Nullable, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { outOf } from '../../platform/http/out-of.ts'
import type { Import } from './imports.sql.ts'
import type { Inspection } from './inspect.task.ts'
import { undoableUntil } from './undo.ts'

export const Subscription = oneOf('subscribed', 'not_subscribed')
const UndoOut = Named(
  'ImportUndo',
  {
    status: oneOf('queued', 'running', 'done', 'failed'),
    removed: Type.Integer({ description: 'Created contacts that were removed.' }),
    restored: Type.Integer({ description: 'Changed contacts whose previous values were restored.' }),
    kept: Type.Integer({
      description: 'Contacts that keep values from the import, because they were changed or emailed since.',
    }),
    requested_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { description: 'The undo of the import; null if it was not undone.' },
)
export const ImportOut = Named('Import', {
  id: Type.String(),
  filename: Type.String(),
  group_id: Nullable(Type.String()),
  subscription: Subscription,
  status: oneOf('queued', 'running', 'checked', 'done', 'failed', 'cancelled'),
  dry_run: Type.Boolean({
    description: 'Whether nothing was imported: the numbers and the rejected rows are those that an import would have.',
  }),
  bytes_total: Type.Integer(),
  bytes_done: Type.Integer(),
  rows_done: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  rejected: Type.Integer(),
  problem: Nullable(Type.String({ description: 'Why the import failed.' })),
  note: Nullable(Type.String({ description: 'Which columns were skipped, and why.' })),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
  undo_until: Nullable(
    Type.String({ format: 'date-time', description: 'Until when it can be undone; null if it cannot be undone.' }),
  ),
  undo: Nullable(UndoOut),
})
export const ErrorsOut = Type.Array(
  Named('ImportError', {
    line: Type.Integer(),
    email: Nullable(Type.String()),
    problem: Type.String(),
    cells: Nullable(
      Type.Array(Type.String(), { description: 'The cells of the row; null if they are too long to keep.' }),
    ),
  }),
  { description: 'The first 1,000 rejected rows.' },
)
export const ColumnsOut = Type.Array(Type.String(), { description: 'The headers of the file; empty if it has none.' })

const positionNote = 'Column positions start at 1.'
export const InspectionOut = Named('ImportInspection', {
  delimiter: Type.String(),
  has_header: Type.Boolean({ description: 'Whether the first row is a header.' }),
  columns: Type.Array(
    Type.Object({
      position: Type.Integer(),
      name: Nullable(Type.String({ description: 'Null if the column has no header.' })),
      decimal_comma: Type.Boolean({
        description: 'Whether it has numbers with a decimal comma: imported as an attribute, `12,5` becomes `12.5`.',
      }),
    }),
  ),
  rows: Type.Array(Type.Array(Type.String()), { description: 'The first rows of data, as examples.' }),
  mapping: Type.Object(
    {
      email: Nullable(Type.Integer({ description: 'Null if no column could be recognized.' })),
      first_name: Nullable(Type.Integer()),
      last_name: Nullable(Type.Integer()),
      status: Nullable(Type.Integer()),
      attributes: Type.Record(Type.String(), Type.Integer()),
    },
    { description: `The detected mapping, which an import without a mapping would use. ${positionNote}` },
  ),
  note: Nullable(Type.String({ description: 'Which columns the mapping skips, and why.' })),
  problem: Nullable(Type.String({ description: 'Why an import of this file would fail, if known.' })),
})

export function inspectionOut({ columns, header, ...rest }: Inspection): Static<typeof InspectionOut> {
  const position = (index: number | null) => (index === null ? null : index + 1)
  return {
    delimiter: rest.delimiter,
    has_header: rest.hasHeader,
    columns: Array.from({ length: columns.width }, (_, index) => ({
      position: index + 1,
      name: header[index] || null,
      decimal_comma: rest.decimalCommas[index] ?? false,
    })),
    rows: rest.rows,
    mapping: {
      email: position(columns.email),
      first_name: position(columns.firstName),
      last_name: position(columns.lastName),
      status: position(columns.status),
      attributes: Object.fromEntries(columns.attributes.map(([name, index]) => [name, index + 1])),
    },
    note: rest.note,
    problem: rest.problem,
  }
}

const undoOut = outOf(UndoOut, {})
const columnsOut = outOf(
  ImportOut,
  { id: 'imp', group_id: 'grp' },
  {
    filename: ({ fileName }: Import) => fileName,
    status: ({ status }: Import) => (status === 'uploading' ? 'queued' : status),
    bytes_done: ({ progress }: Import) => progress.offset,
    rows_done: ({ progress }: Import) => progress.rows,
    problem: ({ reason }: Import) => reason,
    note: ({ progress }: Import) => progress.layout?.note ?? null,
    undo: ({ undo }: Import) => undo && undoOut(undo),
  },
)
export const importOut = (record: Import) =>
  columnsOut({ ...record, ...record.progress, undoUntil: undoableUntil(record) })
