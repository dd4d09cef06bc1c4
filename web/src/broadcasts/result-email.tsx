import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { BroadcastDetail } from '../api/types.ts'
import { linksQuery, sentOf } from './broadcasts.api.ts'
import { clickMapCss } from './click-map.ts'
import { EmailPreview } from './email-preview.tsx'

/** The email beside the results, with a map of clicks on its links. */
export function ResultEmail({ broadcast }: { broadcast: BroadcastDetail }) {
  const { id, flow_id: flowId, results_counted_at: countedAt, variants, links_complete: isComplete } = broadcast
  const sent = sentOf(broadcast)
  // Before the first count, it is not known that nobody clicked.
  const isCounted = countedAt !== null
  const links = useQuery({ ...linksQuery(id), enabled: isCounted })
  if (flowId === null) return null
  const clicked = isCounted ? links.data : undefined
  return (
    <EmailPreview
      id={id}
      title="Email"
      variants={variants.map(({ key }) => key)}
      {...(clicked && { cssOf: (preview) => clickMapCss(preview.links, clicked, { sent, isComplete }) })}
    >
      {clicked && (
        <Text size="xs" c="dimmed" mb="sm">
          Each link shows how many clicked it, the same number wherever it occurs. Viewing it here doesn’t count.
        </Text>
      )}
    </EmailPreview>
  )
}
