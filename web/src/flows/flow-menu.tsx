import { ActionIcon, Menu } from '@mantine/core'
import { IconArchive, IconDots, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { Flow, FlowStatus } from '../api/types.ts'
import { Confirm } from '../ui/confirm.tsx'
import { toast } from '../ui/toast.tsx'
import { changeFlow, deleteFlow, flowQuery } from './flows.api.ts'

const done: Record<FlowStatus, string> = {
  active: 'Flow activated. API sends will be accepted.',
  paused: 'Flow paused. API sends will be rejected.',
  archived: 'Flow archived. API sends will be rejected.',
}

export function FlowMenu({ flow, onDeleted }: { flow: Flow; onDeleted: () => void }) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [deleting, setDeleting] = useState(false)
  const change = useMutation({
    mutationFn: (status: FlowStatus) => changeFlow(flow.id, { status }),
    onSuccess: async (changed) => {
      queries.setQueryData(flowQuery(flow.id).queryKey, changed)
      await invalidate(keys.flowLists)
      toast(done[changed.status])
    },
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  const deleteIt = async () => {
    await deleteFlow(flow.id)
    onDeleted()
    await invalidate(keys.flowLists)
  }
  return (
    <>
      <Menu position="bottom-end" width={200}>
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More actions">
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {flow.status === 'active' ? (
            <Menu.Item leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={() => change.mutate('paused')}>
              Pause
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={() => change.mutate('active')}>
              Activate
            </Menu.Item>
          )}
          {flow.status !== 'archived' && (
            <Menu.Item leftSection={<IconArchive size={16} aria-hidden />} onClick={() => change.mutate('archived')}>
              Archive
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setDeleting(true)}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={deleting}
        onClose={() => setDeleting(false)}
        title="Delete flow"
        action="Delete flow"
        typed={flow.name}
        run={deleteIt}
      >
        <strong>{flow.name}</strong> and its versions will be deleted, and API sends through it will fail. Its
        statistics are kept.
      </Confirm>
    </>
  )
}
