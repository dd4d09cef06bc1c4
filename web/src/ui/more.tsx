import { Button, Group } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Pages } from '../api/pages.ts'

/** Stands after its list. The first of the rows that come gets the focus: there the reading goes on. */
export function More({ pages }: { pages: Pages<unknown> }) {
  const asked = useRef<{ list: Element; rows: number }>(undefined)
  const shown = pages.data?.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows are there when the data has grown.
  useEffect(() => {
    if (!asked.current) return
    const { list, rows } = asked.current
    const first = rowsOf(list)[rows]
    if (!first) return
    asked.current = undefined
    focusIn(first)
  }, [shown])
  if (!pages.hasMore) return null
  return (
    <Group justify="center" mt="md">
      <Button
        variant="default"
        loading={pages.loadingMore}
        onClick={(event) => {
          const list = event.currentTarget.parentElement?.previousElementSibling
          if (list) asked.current = { list, rows: rowsOf(list).length }
          void pages.loadMore()
        }}
      >
        Show more
      </Button>
    </Group>
  )
}

const rowsOf = (list: Element) => list.querySelectorAll<HTMLElement>('tbody > tr, li, :scope > a')

function focusIn(row: HTMLElement): void {
  const place = row.matches('a') ? row : (row.querySelector<HTMLElement>('a, button') ?? row)
  if (place === row && !row.matches('a')) row.tabIndex = -1
  place.focus()
}
