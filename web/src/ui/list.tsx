import type { ReactNode } from 'react'
import type { Pages } from '../api/pages.ts'
import { type Column, DataTable } from './data-table.tsx'
import { Filters } from './filters.tsx'
import { More } from './more.tsx'
import { Empty, type EmptyProps, Load, type Loadable } from './states.tsx'

type FrameProps<Row> = {
  query: Loadable<Row[]> | Pages<Row>
  filters?: ReactNode
  /** Shown if there are no rows: what will appear here, and the next step. */
  empty: EmptyProps
  /** Shown instead of `empty` while a filter is set. */
  notFound?: EmptyProps | false
  children: (rows: Row[]) => ReactNode
}

/** A list with its filters, its four states and the button for the next page. */
export function ListFrame<Row>({ query, filters, empty, notFound, children }: FrameProps<Row>) {
  return (
    <>
      {filters && <Filters>{filters}</Filters>}
      <Load query={query} isEmpty={(rows) => rows.length === 0} empty={<Empty {...(notFound || empty)} />}>
        {children}
      </Load>
      {'hasMore' in query && <More pages={query} />}
    </>
  )
}

type TableProps<Row> = Omit<FrameProps<Row>, 'children'> & {
  label: string
  columns: Column<Row>[]
  rowKey: (row: Row) => string
}

export function TableList<Row>({ label, columns, rowKey, ...frame }: TableProps<Row>) {
  return (
    <ListFrame {...frame}>
      {(rows) => <DataTable label={label} columns={columns} rows={rows} rowKey={rowKey} />}
    </ListFrame>
  )
}
