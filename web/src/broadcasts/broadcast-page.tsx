import { useQuery } from '@tanstack/react-query'
import { useParams, useSearchParams } from 'react-router'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Load } from '../ui/states.tsx'
import { BroadcastActions } from './broadcast-actions.tsx'
import { ProgressBadge } from './broadcast-status.tsx'
import { broadcastQuery } from './broadcasts.api.ts'
import { DraftView } from './draft-view.tsx'
import { ResultView } from './result-view.tsx'

/** A draft is edited and checked here, and a scheduled broadcast until it starts; afterwards the page shows its progress and its result. */
export function BroadcastPage() {
  const { id = '' } = useParams()
  const [search] = useSearchParams()
  const isEditing = search.has('edit')
  const broadcast = useQuery(broadcastQuery(id))
  return (
    <Page
      wide
      title={broadcast.data?.name ?? 'Broadcast'}
      beside={broadcast.data && <ProgressBadge broadcast={broadcast.data} />}
      back={{ to: paths.broadcasts, label: 'Broadcasts' }}
      actions={broadcast.data && <BroadcastActions broadcast={broadcast.data} isEditing={isEditing} />}
    >
      <Load query={broadcast}>
        {(data) => {
          if (data.status === 'draft' || (data.status === 'scheduled' && isEditing))
            return <DraftView key={data.id} broadcast={data} />
          return (
            <>
              {isEditing && data.status !== 'scheduled' && (
                <Notice tone="warn" role="status" title="This broadcast has started">
                  It can no longer be edited. Changes that were not saved before are lost.
                </Notice>
              )}
              <ResultView broadcast={data} />
            </>
          )
        }}
      </Load>
    </Page>
  )
}
