import { Button, Group } from '@mantine/core'
import type { Pages } from '../api/pages.ts'

export function More({ pages }: { pages: Pages<unknown> }) {
  if (!pages.hasMore) return null
  return (
    <Group justify="center" mt="md">
      <Button variant="default" loading={pages.loadingMore} onClick={() => void pages.loadMore()}>
        Show more
      </Button>
    </Group>
  )
}
