import type { ReactNode } from 'react'
import type { Cell } from '../../../ui/csv.ts'
import { type Column, DataTable } from '../../../ui/data-table.tsx'
import { Section } from '../../../ui/section.tsx'
import { Empty } from '../../../ui/states.tsx'
import { CsvButton } from './csv-button.tsx'

type Props<Row> = {
  title: string
  description?: ReactNode
  empty: string
  columns: Column<Row>[]
  rows: Row[]
  rowKey: (row: Row) => string
  csv: { name: string; label: string; header: string[]; cells: (row: Row) => Cell[] }
  children?: ReactNode
}

/** A table with all of its rows, which can be downloaded. */
export function TableSection<Row>({ title, description, empty, columns, rows, rowKey, csv, children }: Props<Row>) {
  const { cells, ...file } = csv
  return (
    <Section
      title={title}
      description={description}
      actions={rows.length > 0 && <CsvButton {...file} rows={() => rows.map(cells)} />}
    >
      {rows.length === 0 ? <Empty title={empty} /> : <DataTable label={title} {...{ columns, rows, rowKey }} />}
      {children}
    </Section>
  )
}
