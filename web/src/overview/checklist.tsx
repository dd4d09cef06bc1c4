import { Anchor, Button, CloseButton, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import { basePath } from '../api/base.ts'
import type { Checklist as Steps } from '../api/types.ts'
import { NotSent } from '../flows/not-sent.tsx'
import { sendWelcome } from '../flows/send-welcome.ts'
import { newestMessageQuery } from '../messages/messages.api.ts'
import { paths } from '../paths.ts'
import { checklistQuery, useMe } from '../session/session.api.ts'
import { Notice } from '../ui/notice.tsx'
import { ErrorLine } from '../ui/states.tsx'
import classes from './checklist.module.css'

const lookEveryMs = 3_000
// Mail that goes out at all goes out within seconds.
const patienceMs = 20_000
const isDone = (steps: Steps | undefined) => steps !== undefined && Object.values(steps).every(Boolean)

/** The way from an empty installation to a webhook: each step ticks itself off when it has happened. */
export function Checklist() {
  const me = useMe()
  const [hidden, hide] = useLocalStorage({ key: `waxwing.checklist-hidden:${basePath}`, defaultValue: false })
  const checklist = useQuery({
    ...checklistQuery,
    enabled: !hidden,
    refetchInterval: (query) => (isDone(query.state.data) ? false : lookEveryMs),
  })
  const steps = checklist.data
  useFreshFigures(steps)
  if (hidden || !steps) return null
  const relay = me.data?.mail.transport === 'smtp'
  const goToMail = relay ? (
    steps.sent && <GoToMessage to={me.data?.user.email} />
  ) : (
    <Go to={paths.inbox}>Go to the inbox</Go>
  )
  const done = Object.values(steps).filter(Boolean).length
  return (
    <Paper withBorder p="md" mb="lg" component="section" aria-label="Get started">
      <Group justify="space-between" wrap="nowrap">
        <Title order={2}>{isDone(steps) ? 'You have seen it all' : 'Get started'}</Title>
        <CloseButton aria-label="Hide the checklist" onClick={() => hide(true)} />
      </Group>
      <Group gap="sm" mb="sm">
        <Progress value={(done / 5) * 100} color="green.8" flex={1} maw={240} aria-label="Steps done" />
        <Text size="xs" c="dimmed">
          {done} of 5
        </Text>
      </Group>
      <ol className={classes.steps}>
        <Step done={steps.sent} action={!steps.sent && <SendFirst email={me.data?.user.email} />}>
          Send a first mail {relay ? 'to yourself' : 'to the built-in inbox'}
        </Step>
        <Step done={steps.opened} action={goToMail}>
          {relay ? 'Open it in your mailbox' : 'Open it'}
        </Step>
        <Step done={steps.clicked} action={goToMail}>
          Click the link in it
        </Step>
        <Step done={steps.api_key} action={<Go to={paths.apiKeys}>API keys</Go>}>
          Create an API key
        </Step>
        <Step done={steps.webhook} action={<Go to={paths.webhooks}>Webhooks</Go>}>
          Add a webhook
        </Step>
      </ol>
    </Paper>
  )
}

/** A step that has just ticked itself off is one that the figures count: they need not wait for their turn. */
function useFreshFigures(steps: Steps | undefined): void {
  const queries = useQueryClient()
  const happened = steps && [steps.sent, steps.opened, steps.clicked].filter(Boolean).length
  const known = useRef(happened)
  useEffect(() => {
    if (known.current !== undefined && known.current !== happened)
      void queries.invalidateQueries({ queryKey: ['overview'] })
    known.current = happened
  }, [happened, queries])
}

function Step({ done, action, children }: { done: boolean; action?: ReactNode; children: ReactNode }) {
  return (
    <li className={classes.step} data-done={done || undefined}>
      {done ? (
        <IconCircleCheckFilled size={20} className={classes.tick} role="img" aria-label="Done" />
      ) : (
        <IconCircle size={20} className={classes.open} role="img" aria-label="To do" />
      )}
      <span>{children}</span>
      {!done && action && <span className={classes.action}>{action}</span>}
    </li>
  )
}

const Go = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to}>
    {children}
  </Anchor>
)

/** Behind a relay the built-in inbox stays empty: what became of the mail stands at the message. */
function GoToMessage({ to = '' }: { to: string | undefined }) {
  const newest = useQuery({ ...newestMessageQuery(to), enabled: to !== '' })
  return newest.data ? <Go to={paths.message(newest.data.id)}>See the message</Go> : null
}

function SendFirst({ email }: { email: string | undefined }) {
  const queries = useQueryClient()
  const send = useMutation({
    mutationFn: sendWelcome,
    onSuccess: () =>
      Promise.all(
        ['checklist', 'flows', 'inbox', 'messages'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
      ),
  })
  const suppressed = send.data?.status === 'suppressed' ? send.data : undefined
  const waiting = send.isSuccess && !suppressed
  const late = useLate(waiting)
  return (
    <Stack gap={6} align="flex-end">
      <Button
        size="compact-sm"
        disabled={!email}
        loading={send.isPending || (waiting && !late)}
        onClick={() => email && send.mutate(email)}
      >
        Send it now
      </Button>
      {suppressed && <NotSent messageId={suppressed.message_id} />}
      {late && (
        <Notice tone="warn" role="status">
          It has not gone out yet. <Go to={paths.messages}>Messages</Go> says why.
        </Notice>
      )}
      {send.isError && <ErrorLine>{messageOf(send.error)}</ErrorLine>}
    </Stack>
  )
}

/** Whether something has been waited for longer than it should take. */
function useLate(waiting: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setLate(true), patienceMs)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [waiting])
  return late
}
