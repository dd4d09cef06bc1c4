import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { count, pluralize } from '../ui/numbers.ts'
import { type ContactQuery, contactCountQuery } from './segments.api.ts'

/** “1,234 contacts”, or “about 1,200 contacts” if counting takes too long. */
export const countText = ({ count: total, approximate }: { count: number; approximate: boolean }) =>
  approximate ? `about ${count(total)} contacts` : pluralize(total, 'contact', 'contacts')

/** How many contacts match. */
export function MatchingCount({ filter }: { filter: Partial<ContactQuery> }) {
  const { data, error, isFetching } = useQuery(contactCountQuery(filter))
  if (error && !data) return <Text c="dimmed">{messageOf(error)}</Text>
  return (
    <Text component="span" c="dimmed" role="status" aria-busy={isFetching}>
      {data ? countText(data) : 'Counting…'}
    </Text>
  )
}
