import { ActionIcon, Menu } from '@mantine/core'
import {
  IconArchive,
  IconArrowBackUp,
  IconCopy,
  IconDots,
  IconPlayerPause,
  IconPlayerPlay,
  IconTrash,
} from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Flow, SettableFlowStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Confirm } from '../ui/confirm.tsx'
import { toast } from '../ui/toast.tsx'
import { changeFlow, deleteFlow, discardDraft, duplicateFlow, flowQuery } from './flows.api.ts'

const done: Record<SettableFlowStatus, string> = {
  active: 'Flow activated. API sends will be accepted.',
  paused: 'Flow paused. API sends will be rejected.',
  archived: 'Flow archived. API sends will be rejected.',
}

type Question = 'pause' | 'archive' | 'discard' | 'delete'
type Props = { flow: Flow; onDeleted: () => void; onDiscarded: (published: Flow) => void }

export function FlowMenu({ flow, onDeleted, onDiscarded }: Props) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  const [asking, setAsking] = useState<Question>()
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
  const ask = (question: Question) => ({ opened: asking === question, onClose: () => setAsking(undefined) })
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More actions">
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={() => duplicate.mutate()}>
            Duplicate
          </Menu.Item>
          {flow.draft && flow.version > 0 && (
            <Menu.Item leftSection={<IconArrowBackUp size={16} aria-hidden />} onClick={() => setAsking('discard')}>
              Discard draft
            </Menu.Item>
          )}
          {flow.status === 'active' && (
            <Menu.Item leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => setAsking('pause')}>
              Pause
            </Menu.Item>
          )}
          {(flow.status === 'paused' || flow.status === 'archived') && (
            <Menu.Item
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              onClick={() => change.mutate('active', { onError: (error) => toast(messageOf(error), 'bad') })}
            >
              Activate
            </Menu.Item>
          )}
          {(flow.status === 'active' || flow.status === 'paused') && (
            <Menu.Item leftSection={<IconArchive size={16} aria-hidden />} onClick={() => setAsking('archive')}>
              Archive
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setAsking('delete')}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm {...ask('pause')} title="Pause flow?" action="Pause flow" run={() => change.mutateAsync('paused')}>
        API calls that send through <strong>{flow.name}</strong> will be rejected with <code>409 flow_not_active</code>{' '}
        until you activate it again. Emails already queued are still sent.
      </Confirm>
      <Confirm
        {...ask('archive')}
        title="Archive flow?"
        action="Archive flow"
        run={() => change.mutateAsync('archived')}
      >
        <strong>{flow.name}</strong> leaves the list of flows, and API calls that send through it will be rejected with{' '}
        <code>409 flow_not_active</code>. Emails already queued are still sent. You can activate it again.
      </Confirm>
      <Confirm {...ask('discard')} title="Discard draft?" action="Discard draft" run={discard}>
        The unpublished changes of <strong>{flow.name}</strong> will be lost. Version {flow.version} stays published.
      </Confirm>
      <Confirm {...ask('delete')} title="Delete flow" action="Delete flow" typed={flow.name} run={deleteIt}>
        <strong>{flow.name}</strong> and its versions will be deleted, and API calls that send through it will be
        rejected with <code>404 not_found</code>. Its statistics are kept.
      </Confirm>
    </>
  )
}
