import { Button } from '@mantine/core'
import { IconCalendarTime, IconPencil, IconSend } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { Load } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { broadcastQuery, changeBroadcast, checkBroadcast } from './broadcasts.api.ts'
import { draftOf, isPast } from './draft.ts'
import { PlannedTimeFields } from './planned-time-fields.tsx'
import { StartForm, starts } from './start-dialog.tsx'

type Props = { broadcast: BroadcastDetail }

/** Edit, move and send now. */
export function ScheduledActions({ broadcast }: Props) {
  const [moving, setMoving] = useState(false)
  const [sending, setSending] = useState(false)
  return (
    <>
      <Button leftSection={<IconSend size={16} aria-hidden />} onClick={() => setSending(true)}>
        Send now
      </Button>
      <Button
        variant="default"
        leftSection={<IconCalendarTime size={16} aria-hidden />}
        onClick={() => setMoving(true)}
      >
        Move
      </Button>
      <Button
        variant="default"
        component={Link}
        to={paths.editBroadcast(broadcast.id)}
        leftSection={<IconPencil size={16} aria-hidden />}
      >
        Edit
      </Button>
      <Dialog opened={moving} onClose={() => setMoving(false)} title="Move this broadcast">
        {moving && <MoveForm broadcast={broadcast} onClose={() => setMoving(false)} />}
      </Dialog>
      <Dialog opened={sending} onClose={() => setSending(false)} title={starts.sendNow.title} size="lg">
        {sending && <SendNow broadcast={broadcast} onClose={() => setSending(false)} />}
      </Dialog>
    </>
  )
}

function MoveForm({ broadcast, onClose }: Props & { onClose: () => void }) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const { when, at, time_zone: zone } = draftOf(broadcast).schedule
  const form = useRequestForm({
    initialValues: { schedule: { when, at, time_zone: zone } },
    send: ({ schedule: { when: _, ...moved } }) =>
      changeBroadcast(broadcast.id, { schedule: { ...broadcast.schedule, ...moved } }),
    onSuccess: async () => {
      toast('Broadcast moved.')
      await queries.invalidateQueries({ queryKey: broadcastQuery(broadcast.id).queryKey })
      await invalidate(keys.broadcastLists)
    },
    onSaved: onClose,
  })
  const isComplete = form.values.schedule.at !== '' && !isPast(form.values)
  return (
    <DialogForm form={form} action="Move" disabled={!isComplete} onCancel={onClose}>
      <PlannedTimeFields form={form} />
    </DialogForm>
  )
}

/** Checks it first: the numbers may have changed since it was scheduled. */
function SendNow({ broadcast, onClose }: Props & { onClose: () => void }) {
  const check = useQuery({
    queryKey: [...keys.broadcast(broadcast.id), 'send-now'],
    queryFn: () => checkBroadcast(broadcast.id, { send_now: true }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  return (
    <Load query={check}>
      {(data) => <StartForm kind="sendNow" broadcast={broadcast} check={data} onClose={onClose} />}
    </Load>
  )
}
