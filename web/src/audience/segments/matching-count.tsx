import { Text } from '@mantine/core'
import { messageOf } from '../../api/api-error.ts'
import type { ContactQuery } from '../../api/types.ts'
import { count, pluralize } from '../../ui/numbers.ts'
import { useContactCount } from './segments.api.ts'

/** “1,234 contacts”, or “about 1,200 contacts” if counting takes too long. */
export const countText = ({ count: total, approximate }: { count: number; approximate: boolean }) =>
  approximate ? `about ${count(total)} contacts` : pluralize(total, 'contact', 'contacts')

type Props = {
  filter: Partial<ContactQuery>
  /** Whether an estimate is replaced by the exact number, which can take seconds. */
  refined?: boolean
}

/** How many contacts match. */
export function MatchingCount({ filter, refined = true }: Props) {
  const { data, error, isFetching } = useContactCount(filter, { refined })
  if (error && !data) return <Text c="dimmed">{messageOf(error)}</Text>
  return (
    <Text component="span" c="dimmed" role="status" aria-busy={isFetching}>
      {data ? countText(data) : 'Counting…'}
    </Text>
  )
}
