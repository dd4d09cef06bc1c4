import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import { Load } from '../ui/states.tsx'
import { BroadcastActions } from './broadcast-actions.tsx'
import { BroadcastBadge } from './broadcast-status.tsx'
import { broadcastQuery } from './broadcasts.api.ts'
import { DraftView } from './draft-view.tsx'
import { ResultView } from './result-view.tsx'

/** A draft is edited and checked here; afterwards the page shows its progress and its result. */
export function BroadcastPage() {
  const { id = '' } = useParams()
  const broadcast = useQuery(broadcastQuery(id))
  return (
    <Page
      wide
      title={broadcast.data?.name ?? 'Broadcast'}
      beside={broadcast.data && <BroadcastBadge broadcast={broadcast.data} />}
      back={{ to: paths.broadcasts, label: 'Broadcasts' }}
      actions={broadcast.data && <BroadcastActions broadcast={broadcast.data} />}
    >
      <Load query={broadcast}>
        {(data) =>
          data.status === 'draft' ? <DraftView key={data.id} broadcast={data} /> : <ResultView broadcast={data} />
        }
      </Load>
    </Page>
  )
}
