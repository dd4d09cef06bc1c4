import { Text } from '@mantine/core'
import type { FlowResults } from '../../../api/types.ts'
import { daysOf } from '../../../engagement/overview/range.ts'
import { pluralize, share } from '../../../ui/numbers.ts'

/** The result of the flow in one sentence. */
export function Summary({ results }: { results: FlowResults }) {
  const { totals } = results
  const { sent, bounced } = totals
  return (
    <Text size="lg" fw={500}>
      {pluralize(sent, 'email', 'emails')} sent in {pluralize(daysOf(results), 'day', 'days')}
      {sent > 0 && (
        <>
          : <b>{share(totals.emailOpen.unique, sent)}</b> opened, <b>{share(totals.emailClick.unique, sent)}</b>{' '}
          clicked, <b>{share(bounced, sent)}</b> bounced
        </>
      )}
      .
    </Text>
  )
}
