import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastCheck, BroadcastDetail, Flow } from '../api/types.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { count, pluralize } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { broadcastQuery, scheduleBroadcast, startBroadcast } from './broadcasts.api.ts'
import type { Draft } from './draft.ts'
import { planOf } from './plan.ts'

type Props = {
  opened: boolean
  onClose: () => void
  broadcast: BroadcastDetail
  draft: Draft
  flow: Flow | undefined
  check: BroadcastCheck
  /** The number of recipients has changed since the check, or the broadcast cannot be started. */
  onRejected: () => void
}

/** The last question before anything is sent: it says what will happen, with the exact numbers. */
export function StartDialog({ opened, onClose, ...props }: Props) {
  const isNow = props.draft.schedule.when === 'now'
  return (
    <Dialog opened={opened} onClose={onClose} title={isNow ? 'Start this broadcast?' : 'Schedule this broadcast?'}>
      {opened && <StartForm onClose={onClose} {...props} />}
    </Dialog>
  )
}

function StartForm({ onClose, broadcast, draft, flow, check, onRejected }: Omit<Props, 'opened'>) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [typed, setTyped] = useState('')
  const [leavesOut, setLeavesOut] = useState(false)
  const isNow = draft.schedule.when === 'now'
  const plan = planOf(draft, check.recipients - check.incomplete)
  const isConfirmed =
    (check.incomplete === 0 || leavesOut) &&
    (!draft.service_announcement || typed.replaceAll(/[\s,.]/g, '') === String(check.unsubscribed))
  const start = useMutation({
    mutationFn: () =>
      (isNow ? startBroadcast : scheduleBroadcast)(broadcast.id, {
        expected_recipients: check.recipients,
        ...(draft.service_announcement && { expected_unsubscribed: check.unsubscribed }),
      }),
    onSuccess: async () => {
      onClose()
      toast(isNow ? 'Broadcast started.' : 'Broadcast scheduled.')
      await queries.invalidateQueries({ queryKey: broadcastQuery(broadcast.id).queryKey })
      await invalidate(keys.broadcastLists)
    },
    onError: onRejected,
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        start.mutate()
      }}
    >
      <Stack gap="md">
        <Text>
          <strong>{flow?.name ?? 'The flow'}</strong>: {plan.lines[0]}
        </Text>
        {plan.lines.slice(1).map((line) => (
          <Text key={line} size="sm">
            {line}
          </Text>
        ))}
        {check.incomplete > 0 && (
          <Checkbox
            label={`Leave out ${pluralize(check.incomplete, 'recipient that lacks', 'recipients that lack')} a variable`}
            checked={leavesOut}
            onChange={(event) => setLeavesOut(event.currentTarget.checked)}
          />
        )}
        {draft.service_announcement && (
          <>
            <Notice tone="bad" title={`${unsubscribedText(check.unsubscribed)} will get this email`}>
              It is a service announcement: it ignores subscriptions and has no unsubscribe link. Advertising sent this
              way is illegal in many countries.
            </Notice>
            <TextInput
              label={`Type ${count(check.unsubscribed)} to confirm the number of unsubscribed people`}
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          </>
        )}
        <Text size="sm" c="dimmed">
          You can pause or cancel it, but emails that were sent can’t be taken back.
        </Text>
        <ErrorLine>{formProblem(start.error)}</ErrorLine>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Not yet
          </Button>
          <Button type="submit" loading={start.isPending} disabled={start.isError || !isConfirmed}>
            {`${isNow ? 'Send to' : 'Schedule for'} ${pluralize(isNow ? plan.first : check.recipients - check.incomplete, 'recipient', 'recipients')}`}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export const unsubscribedText = (value: number) =>
  pluralize(value, 'person who unsubscribed', 'people who unsubscribed')
