import { Button, Text, TextInput } from '@mantine/core'
import { IconMailForward } from '@tabler/icons-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { keys, useInvalidate } from '../api/keys.ts'
import type { BroadcastDetail, Filter } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useContactCount } from '../segments/segments.api.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DialogForm, useRequestForm } from '../ui/form.tsx'
import { count, pluralize } from '../ui/numbers.ts'
import { toast } from '../ui/toast.tsx'
import { sendAgain } from './broadcasts.api.ts'

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

/** The contacts that would get the email if the draft was started now. */
function recipientsOf({ id, service_announcement: isAnnouncement }: BroadcastDetail): Filter {
  return {
    type: 'all',
    conditions: [
      { type: 'broadcast', operator: 'not_opened', broadcast_id: id },
      isAnnouncement
        ? { type: 'status', operator: 'is_not', value: 'suppressed' }
        : { type: 'status', operator: 'is', value: 'subscribed' },
    ],
  }
}

function SendAgainForm({ broadcast, onClose }: { broadcast: BroadcastDetail; onClose: () => void }) {
  const navigate = useNavigate()
  const invalidate = useInvalidate()
  const matching = useContactCount({ filter: JSON.stringify(recipientsOf(broadcast)) })
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
        {matching.data ? (
          <>
            <strong>
              {matching.data.approximate && 'About '}
              {pluralize(matching.data.count, 'contact', 'contacts')}
            </strong>{' '}
            of the {count(broadcast.counts.sent)} it was delivered to would get it now.
          </>
        ) : (
          'Counting the contacts…'
        )}
      </Text>
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
