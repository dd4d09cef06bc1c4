import { Anchor, Button, List, Stack, TagsInput, Text } from '@mantine/core'
import { useMutation, useQueries } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { useMe } from '../../accounts/session/session.api.ts'
import { fieldProblem, formProblem } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { MessageDetail, TestEmail } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { DialogActions } from '../../ui/dialog-actions.tsx'
import { emailText } from '../../ui/email-text.ts'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { messageStatuses } from './message-status.tsx'
import { messageQuery } from './messages.api.ts'
import { NotSent } from './not-sent.tsx'

const recipientsMax = 10
const toPaths = ['to', ...Array.from({ length: recipientsMax }, (_, index) => `to.${index}`)]

type Props = {
  opened: boolean
  onClose: () => void
  /** Saves unsaved changes, so that they are tested, and sends the emails. */
  send: (to: string[]) => Promise<TestEmail[]>
  /** What is sent. */
  children: ReactNode
}

export function TestEmailDialog({ opened, onClose, send: sendTo, children }: Props) {
  const me = useMe()
  const invalidate = useInvalidate()
  const [chosen, setChosen] = useState<string[]>()
  const to = chosen ?? (me.data ? [me.data.user.email] : [])
  const send = useMutation({
    mutationFn: () => sendTo(to),
    onSuccess: () => invalidate(keys.messages, keys.inbox, keys.sending),
  })
  const close = () => {
    send.reset()
    onClose()
  }
  const suppressed = send.data?.filter(({ status }) => status === 'suppressed') ?? []
  const queued = send.data?.filter(({ status }) => status !== 'suppressed') ?? []
  return (
    <Dialog opened={opened} onClose={close} title="Send test email" saved={send.isSuccess}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <Stack gap="sm">
          <TagsInput
            label="To"
            description={`Up to ${recipientsMax} addresses. Press Enter after each.`}
            required
            data-autofocus
            maxTags={recipientsMax}
            splitChars={[',', ';', ' ']}
            value={to}
            onChange={(value) => {
              setChosen(value)
              if (send.isError) send.reset()
            }}
            error={fieldProblem(send.error, ...toPaths)}
          />
          <Text size="xs" c="dimmed">
            {children}
          </Text>
          <ErrorLine>{formProblem(send.error, toPaths)}</ErrorLine>
          {suppressed.map((email) => (
            <NotSent key={email.message_id} messageId={email.message_id} email={email.contact_email} />
          ))}
          {queued.length > 0 && <Queued emails={queued} toInbox={me.data?.mail.transport === 'inbox'} />}
          <DialogActions>
            <Button variant="default" onClick={close}>
              Close
            </Button>
            <Button type="submit" loading={send.isPending}>
              Send test email
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  )
}

const waitingRefetchMs = 1_000

/** Follows the emails until all of them are sent or have failed. */
function Queued({ emails, toInbox }: { emails: TestEmail[]; toInbox: boolean }) {
  const messages = useQueries({
    queries: emails.map(({ message_id: id }) => ({
      ...messageQuery(id),
      refetchInterval: (query: { state: { data?: MessageDetail | undefined } }) =>
        query.state.data && query.state.data.status !== 'queued' ? (false as const) : waitingRefetchMs,
    })),
  })
  const statuses = messages.map(({ data }) => data?.status ?? 'queued')
  const isSent = statuses.every((status) => status === 'sent')
  const isWaiting = statuses.includes('queued')
  return (
    <Notice
      tone={isSent ? 'good' : isWaiting ? 'info' : 'bad'}
      role="status"
      title={
        isSent ? 'Sent' : isWaiting ? 'Queued for sending' : emails.length === 1 ? 'Not sent' : 'Not all were sent'
      }
    >
      <List listStyleType="none" spacing={4}>
        {emails.map(({ message_id: id, contact_email: email }, index) => (
          <List.Item key={id} className="break">
            {emailText(email)}: {emails.length > 1 && `${messageStatuses[statuses[index] ?? 'queued'].label}. `}
            <Anchor component={Link} to={paths.message(id)}>
              View delivery
            </Anchor>
            {toInbox && (
              <>
                {' '}
                or{' '}
                <Anchor component={Link} to={paths.inboxEmail(id)}>
                  open it in the inbox
                </Anchor>
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Notice>
  )
}
