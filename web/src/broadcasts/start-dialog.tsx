import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formProblem } from '../api/api-error.ts'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastCheck } from '../api/types.ts'
import { useLeaves } from '../content/flows/blockers.tsx'
import { EmailCheck } from '../content/flows/email-check.tsx'
import { paths } from '../paths.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DialogActions } from '../ui/dialog-actions.tsx'
import { Notice } from '../ui/notice.tsx'
import { count, pluralize } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { toast } from '../ui/toast.tsx'
import { broadcastQuery, scheduleBroadcast, sendBroadcastNow, startBroadcast } from './broadcasts.api.ts'
import { startsAtOnce, type Test } from './plan.ts'
import { PlanSummary } from './plan-summary.tsx'

/** Ways to start a broadcast. */
export const starts = {
  start: { title: 'Start this broadcast?', send: startBroadcast, done: 'Broadcast started.' },
  schedule: { title: 'Schedule this broadcast?', send: scheduleBroadcast, done: 'Broadcast scheduled.' },
  sendNow: { title: 'Send this broadcast now?', send: sendBroadcastNow, done: 'Broadcast started.' },
}

/** Typed to start a broadcast in spite of its blockers. */
const anyway = 'send anyway'

type Started = Test & { id: string; flow_id: string | null; service_announcement: boolean }
type FormProps = {
  onClose: () => void
  kind: keyof typeof starts
  broadcast: Started
  check: BroadcastCheck
  /** The number of recipients has changed since the check, or the broadcast cannot be started. */
  onRejected?: () => void
}

/** The last question before anything is sent: it says what will happen, with the numbers of the service. */
export function StartDialog({ opened, ...props }: FormProps & { opened: boolean }) {
  return (
    <Dialog opened={opened} onClose={props.onClose} title={starts[props.kind].title} size="lg">
      {opened && <StartForm {...props} />}
    </Dialog>
  )
}

export function StartForm({ onClose, kind, broadcast, check, onRejected }: FormProps) {
  const { id, flow_id: flowId, service_announcement: isAnnouncement } = broadcast
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const [typed, setTyped] = useState('')
  const [insisted, setInsisted] = useState('')
  const leaves = useLeaves()
  const mustInsist = leaves && check.blockers.length > 0
  const [leavesOut, setLeavesOut] = useState(false)
  const isConfirmed =
    (check.incomplete === 0 || leavesOut) &&
    (!mustInsist || insisted.trim().toLowerCase() === anyway) &&
    (!isAnnouncement || typed.replaceAll(/[\s,.]/g, '') === String(check.unsubscribed))
  const start = useMutation({
    mutationFn: () =>
      starts[kind].send(id, {
        expected_recipients: check.recipients,
        // One that appeared since the check is refused.
        accepted_blockers: [...new Set(check.blockers.map(({ code }) => code))],
        ...(isAnnouncement && { expected_unsubscribed: check.unsubscribed }),
      }),
    onSuccess: async () => {
      onClose()
      toast(starts[kind].done)
      await queries.invalidateQueries({ queryKey: broadcastQuery(id).queryKey })
      await invalidate(keys.broadcastLists)
    },
    ...(onRejected && { onError: onRejected }),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        start.mutate()
      }}
    >
      <Stack gap="md">
        <PlanSummary check={check} test={broadcast} isAnnouncement={isAnnouncement} />
        <EmailCheck
          blockers={check.blockers}
          findings={check.findings}
          // A draft shows the links beside the button that opens this.
          links={kind === 'sendNow' ? check.links : []}
          editorPath={flowId === null ? undefined : paths.flowTab(flowId, 'edit')}
        />
        {check.incomplete > 0 && (
          <Checkbox
            label={`Leave out ${check.checked < check.recipients ? 'at least ' : ''}${pluralize(check.incomplete, 'recipient that lacks', 'recipients that lack')} a variable`}
            description="They are counted above but get no email."
            checked={leavesOut}
            onChange={(event) => setLeavesOut(event.currentTarget.checked)}
          />
        )}
        {isAnnouncement && (
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
        {mustInsist && (
          <TextInput
            label={`Type “${anyway}” to ${kind === 'schedule' ? 'schedule' : 'send'} it in spite of what is to be fixed`}
            autoComplete="off"
            value={insisted}
            onChange={(event) => setInsisted(event.currentTarget.value)}
          />
        )}
        <Text size="sm" c="dimmed">
          You can pause or cancel it, but emails that were sent can’t be taken back.
        </Text>
        <ErrorLine>{formProblem(start.error)}</ErrorLine>
        <DialogActions>
          <Button variant="default" onClick={onClose}>
            Not yet
          </Button>
          <Button
            type="submit"
            {...(mustInsist && { color: 'red' })}
            loading={start.isPending}
            disabled={start.isError || !isConfirmed}
          >
            {actionText(kind, check)}
          </Button>
        </DialogActions>
      </Stack>
    </form>
  )
}

function actionText(kind: FormProps['kind'], { recipients, incomplete, plan }: BroadcastCheck): string {
  const people = (value: number) => pluralize(value, 'recipient', 'recipients')
  if (kind === 'schedule') return `Schedule for ${people(recipients - incomplete)}`
  const onlyWinner = plan.waits.every(({ cause }) => cause === 'winner')
  if (!startsAtOnce(plan) || !onlyWinner) return `Start for ${people(recipients - incomplete)}`
  return `Send to ${people(plan.sample ?? recipients - incomplete)}`
}

export const unsubscribedText = (value: number) =>
  pluralize(value, 'person who unsubscribed', 'people who unsubscribed')
