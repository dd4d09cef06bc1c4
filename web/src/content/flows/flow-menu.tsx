import { IconArchive, IconArrowBackUp, IconCopy, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Flow, SettableFlowStatus } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { ActionMenu } from '../../ui/action-menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { changeFlow, deleteFlow, discardDraft, duplicateFlow, flowQuery } from './flows.api.ts'

const done: Record<SettableFlowStatus, string> = {
  active: 'Flow activated. API sends will be accepted.',
  paused: 'Flow paused. API sends will be rejected.',
  archived: 'Flow archived. API sends will be rejected.',
}

type Props = { flow: Flow; onDeleted: () => void; onDiscarded: (published: Flow) => void }

export function FlowMenu({ flow, onDeleted, onDiscarded }: Props) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  const change = useMutation({
    mutationFn: (status: SettableFlowStatus) => changeFlow(flow.id, { status }),
    onSuccess: async (changed, status) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, changed)
      await invalidate(keys.flowLists)
      toast(done[status])
    },
  })
  const duplicate = useMutation({
    mutationFn: () => duplicateFlow(flow.id),
    onSuccess: async (copy) => {
      queries.setQueryData(flowQuery(copy.id).queryKey, copy)
      await invalidate(keys.flowLists)
      toast(`Flow “${copy.name}” created as a draft.`)
      await navigate(paths.flowTab(copy.id, 'edit'))
    },
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  const discard = async () => {
    await discardDraft(flow.id)
    const published = { ...flow, draft: null }
    queries.setQueryData(flowQuery(flow.id).queryKey, published)
    onDiscarded(published)
    toast('Draft discarded.')
    await invalidate(keys.flowLists)
  }
  const deleteIt = async () => {
    await deleteFlow(flow.id)
    onDeleted()
    await invalidate(keys.flowLists)
  }
  const name = <strong>{flow.name}</strong>
  const isPublished = flow.status === 'active' || flow.status === 'paused'
  return (
    <ActionMenu
      actions={[
        { label: 'Duplicate', icon: IconCopy, run: () => duplicate.mutate() },
        flow.draft !== null &&
          flow.version > 0 && {
            label: 'Discard draft',
            icon: IconArrowBackUp,
            confirm: {
              title: 'Discard draft?',
              action: 'Discard draft',
              children: (
                <>
                  The unpublished changes of {name} will be lost. Version {flow.version} stays published.
                </>
              ),
              run: discard,
            },
          },
        flow.status === 'active' && {
          label: 'Pause',
          icon: IconPlayerPause,
          confirm: {
            title: 'Pause flow?',
            action: 'Pause flow',
            children: (
              <>
                API calls that send {name} will be rejected until you activate it again. Emails already queued are still
                sent.
              </>
            ),
            run: () => change.mutateAsync('paused'),
          },
        },
        (flow.status === 'paused' || flow.status === 'archived') && {
          label: 'Activate',
          icon: IconPlayerPlay,
          run: () => change.mutate('active', { onError: (error) => toast(messageOf(error), 'bad') }),
        },
        isPublished && {
          label: 'Archive',
          icon: IconArchive,
          confirm: {
            title: 'Archive flow?',
            action: 'Archive flow',
            children: (
              <>
                {name} leaves the list of flows, and API calls that send it will be rejected. Emails already queued are
                still sent. You can activate it again.
              </>
            ),
            run: () => change.mutateAsync('archived'),
          },
        },
        {
          label: 'Delete',
          icon: IconTrash,
          danger: true,
          confirm: {
            title: 'Delete flow',
            action: 'Delete flow',
            typed: flow.name,
            children: (
              <>
                {name} and its versions will be deleted, and API calls that send it will be rejected. Its statistics are
                kept.
              </>
            ),
            run: deleteIt,
          },
        },
      ]}
    />
  )
}
