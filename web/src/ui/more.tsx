import { Button, Group } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { Pages } from '../api/pages.ts'

/** The button after a list that loads its next page and moves the focus to the first new row. */
export function More({ pages }: { pages: Pages<unknown> }) {
  const pending = useRef<{ list: Element; rows: number }>(undefined)
  const shown = pages.data?.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: the new rows are rendered when the data has grown.
  useEffect(() => {
    if (!pending.current) return
    const { list, rows } = pending.current
    const first = rowsOf(list)[rows]
    if (!first) return
    pending.current = undefined
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
          if (list) pending.current = { list, rows: rowsOf(list).length }
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
