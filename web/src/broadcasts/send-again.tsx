import { Button, Text, TextInput } from '@mantine/core'
import { IconMailForward } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { keys, useInvalidate } from '../api/keys.ts'
import type { AudienceCount, BroadcastDetail } from '../api/types.ts'
import { flowQuery } from '../content/flows/flows.api.ts'
import { paths } from '../paths.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { count } from '../ui/numbers.ts'
import { toast } from '../ui/toast.tsx'
import { shownNumber } from './audience-count.tsx'
import { audienceCountQuery, sendAgain, sentOf } from './broadcasts.api.ts'

export function SendAgainButton({ broadcast }: { broadcast: BroadcastDetail }) {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button variant="default" leftSection={<IconMailForward size={16} aria-hidden />} onClick={() => setOpened(true)}>
        Send again to those who did not open
      </Button>
      <Dialog opened={opened} onClose={() => setOpened(false)} title="Send again to those who did not open">
        {opened && <SendAgainForm broadcast={broadcast} onClose={() => setOpened(false)} />}
      </Dialog>
    </>
  )
}

/** The audience of the draft. */
const audienceOf = ({ id, audience, service_announcement }: BroadcastDetail) => ({
  audience: { ...audience, all_subscribed: false, group_ids: [], segment_ids: [], not_opened_broadcast_id: id },
  service_announcement,
})

function SendAgainForm({ broadcast, onClose }: { broadcast: BroadcastDetail; onClose: () => void }) {
  const navigate = useNavigate()
  const invalidate = useInvalidate()
  const counted = useQuery({ ...audienceCountQuery(audienceOf(broadcast)), retry: false })
  const notOpened = broadcast.results.not_opened
  const form = useRequestForm({
    initialValues: { subject: '' },
    validate: ({ subject }) => ({ subject: subject.trim() ? undefined : 'Subject is required.' }),
    send: ({ subject }) => sendAgain(broadcast.id, { subject: subject.trim() }),
    onSuccess: () => invalidate(keys.broadcastLists),
    onSaved: ({ id, name }) => {
      toast(`“${name}” created.`)
      void navigate(paths.broadcast(id))
    },
  })
  return (
    <DialogForm form={form} action="Create draft" onCancel={onClose}>
      <Text aria-live="polite">
        {counted.data ? (
          <>
            <strong>
              {count(notOpened)} of {count(sentOf(broadcast))}
            </strong>{' '}
            {notOpened === 1 ? 'has' : 'have'} not opened.{' '}
            {whoGetsIt(shownNumber(counted.data), counted.data, notOpened)}
          </>
        ) : counted.error ? (
          // An excluded group or segment was deleted since; the draft has no such.
          'The draft shows how many contacts would get it.'
        ) : (
          'Counting the contacts…'
        )}
      </Text>
      <OtherVersion broadcast={broadcast} />
      <Text size="sm" c="dimmed">
        Left out: contacts who open or click before the new broadcast starts, unsubscribed contacts, and suppressed
        addresses. Automated opens don’t count.
      </Text>
      <TextInput
        label="Subject"
        description="Must differ from the first email’s subject."
        required
        maxLength={2000}
        data-autofocus
        {...form.field('subject')}
      />
    </DialogForm>
  )
}

/** Some of those who have not opened may be unsubscribed, suppressed or excluded by now. */
function whoGetsIt(people: number, { complete }: AudienceCount, notOpened: number): string {
  if (!complete) return `More than ${count(people)} of them get it again.`
  if (people === notOpened) return 'They get it again.'
  return people === 1 ? '1 of them gets it again.' : `${count(people)} of them get it again.`
}

/** Says that the flow was changed since. */
function OtherVersion({ broadcast: { flow_id: id, flow_version: pinned, variants } }: { broadcast: BroadcastDetail }) {
  const flow = useQuery({ ...flowQuery(id ?? ''), enabled: id !== null, refetchOnMount: 'always' })
  const variantVersions = variants.map(({ flow_version: number }) => number ?? pinned)
  const sent = [...new Set(variantVersions.length > 0 ? variantVersions : [pinned])].sort()
  const current = flow.data?.version
  if (current === undefined || (sent.length === 1 && sent[0] === current)) return null
  return (
    <Text size="sm">
      Recipients got version {sent.join(' or ')} of the flow. The draft sends the current one, version {current}.
    </Text>
  )
}
