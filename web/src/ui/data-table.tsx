// biome-ignore-all lint/a11y/noRedundantRoles: on a phone `display: block` removes the implicit roles.
// biome-ignore-all lint/a11y/useSemanticElements: as above.
// biome-ignore-all lint/a11y/useKeyWithClickEvents: a row's link is reached by keyboard; clicking beside it is a convenience.
import { Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './data-table.module.css'
import { openRow } from './row-link.tsx'

export type Column<Row> = {
  header: string
  /** Shown in the head of the table instead of `header`, for example a checkbox for all rows. */
  heading?: ReactNode
  cell: (row: Row) => ReactNode
  align?: 'right'
  width?: string
  /** For values that should not wrap, such as an address or an id, whatever the other columns contain. */
  minWidth?: string
  /** On a phone: `title` heads the card, `corner` is beside it, `bare` has no label, `hide` is left out. */
  phone?: 'title' | 'corner' | 'bare' | 'hide'
}

type Props<Row> = {
  label: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string
}

/** A table that becomes a list of cards on a phone. */
export function DataTable<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  return (
    <Paper withBorder className={classes.frame}>
      <table role="table" aria-label={label} className={classes.table}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                key={column.header}
                role="columnheader"
                data-align={column.align}
                style={{ width: column.width, minWidth: column.minWidth }}
              >
                {column.heading ?? column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" onClick={openRow} onAuxClick={openRow}>
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column) => (
                <td
                  key={column.header}
                  role="cell"
                  data-label={column.header}
                  data-align={column.align}
                  data-phone={column.phone}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Paper>
  )
}
