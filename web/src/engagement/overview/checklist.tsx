import { Anchor, Button, CloseButton, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconCircle, IconCircleCheckFilled } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { checklistQuery, useMe } from '../../accounts/session/session.api.ts'
import { sendingQuery, setupQuery } from '../../accounts/settings/settings.api.ts'
import { messageOf } from '../../api/api-error.ts'
import { basePath } from '../../api/base.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Checklist as Steps } from '../../api/types.ts'
import { sendWelcome } from '../../content/flows/send-welcome.ts'
import { paths } from '../../paths.ts'
import { newestMessageQuery } from '../../sending/messages/messages.api.ts'
import { NotSent } from '../../sending/messages/not-sent.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import classes from './checklist.module.css'

const refetchMs = 3_000
// A working mail server accepts an email within seconds.
const expectedWithinMs = 20_000

/** The first steps of a new organization. Disappears when complete; people who join later never see it. */
export function Checklist() {
  const me = useMe()
  const id = me.data?.organization.id
  return id ? <ChecklistOf key={id} organizationId={id} /> : null
}

function ChecklistOf({ organizationId }: { organizationId: string }) {
  const me = useMe()
  const [hidden, hide] = useLocalStorage({
    key: `waxwing.checklist-hidden:${basePath}:${organizationId}`,
    defaultValue: false,
  })
  const { steps, hasMailServer } = useSteps(!hidden)
  const isComplete = steps !== undefined && Object.values(steps).every(Boolean)
  useStatisticsRefresh(steps)
  // The congratulation is for those who completed a step on this page.
  const [started, setStarted] = useState(false)
  if (steps && !isComplete && !started) setStarted(true)
  // Once complete, it does not return when the mail server fails later.
  useEffect(() => {
    if (isComplete && !started && !hidden) hide(true)
  }, [isComplete, started, hidden, hide])
  if (hidden || !steps || (isComplete && !started)) return null
  const total = Object.keys(steps).length
  const done = Object.values(steps).filter(Boolean).length
  const goToMail = hasMailServer ? (
    steps.sent && <GoToMessage to={me.data?.user.email} />
  ) : (
    <StepLink to={paths.inbox}>Open the inbox</StepLink>
  )
  return (
    <Paper withBorder p="md" mb="lg" component="section" aria-label="Get started">
      <Group justify="space-between" wrap="nowrap" mb="sm">
        <Group gap="sm">
          <Title order={2}>{isComplete ? 'You’re all set' : 'Get started'}</Title>
          <Progress value={(done / total) * 100} color="green.8" w={140} aria-label="Completed steps" />
          <Text size="xs" c="dimmed">
            {done} of {total}
          </Text>
        </Group>
        <CloseButton aria-label="Hide the checklist" onClick={() => hide(true)} />
      </Group>
      <ol className={classes.steps}>
        <Step
          done={steps.sent}
          title="Send yourself a first email"
          purpose="See what your recipients see."
          action={!steps.sent && <SendWelcome email={me.data?.user.email} />}
        />
        <Step
          done={steps.opened}
          title={hasMailServer ? 'Open it in your mailbox' : 'Open it in the inbox'}
          purpose="Waxwing records the open."
          action={goToMail}
        />
        <Step
          done={steps.clicked}
          title="Click the link in it"
          purpose="Clicks are tracked by link and contact."
          action={goToMail}
        />
        <Step
          done={steps.flow}
          title="Write a flow"
          purpose="An email template your app sends through the API."
          action={<StepLink to={paths.starters}>Create flow</StepLink>}
        />
        <Step
          done={steps.contacts}
          title="Import contacts"
          purpose="Add your subscribers from a CSV file."
          action={<StepLink to={paths.newImport}>Import CSV</StepLink>}
        />
        <Step
          done={steps.mail_server}
          title="Connect a mail server"
          purpose={
            hasMailServer
              ? 'Emails stay queued while Waxwing can’t connect to it.'
              : 'Until then, emails stay in the built-in inbox.'
          }
          action={<StepLink to={paths.setup}>Show me how</StepLink>}
        />
        <Step
          done={steps.links}
          title="Make links reachable"
          purpose="Other people can open the links and images in your emails."
          action={<StepLink to={paths.setup}>Open Setup</StepLink>}
        />
        <Step
          done={steps.api_key}
          title="Create an API key"
          purpose="Lets your app send emails and add contacts."
          action={<StepLink to={paths.apiKeys}>API keys</StepLink>}
        />
        <Step
          done={steps.webhook}
          title="Add a webhook"
          purpose="Sends opens, clicks and bounces to your app."
          action={<StepLink to={paths.webhooks}>Webhooks</StepLink>}
        />
      </ol>
    </Paper>
  )
}

/** The steps and whether each is done. Undefined until all of them are known. */
function useSteps(enabled: boolean) {
  const { data: steps } = useQuery({ ...checklistQuery, enabled, refetchInterval: refetchMs })
  const { data: sending } = useQuery({ ...sendingQuery, enabled, refetchInterval: refetchMs })
  const { data: setup } = useQuery({ ...setupQuery, enabled, refetchInterval: refetchMs })
  const hasMailServer = sending?.transport === 'smtp'
  const known = steps &&
    sending &&
    setup && {
      ...steps,
      mail_server: hasMailServer && sending.state !== 'failing',
      links: setup.steps.some(({ key, state }) => key === 'base_url' && state === 'done'),
    }
  return { steps: known, hasMailServer }
}

/** A step that was just completed changed the statistics: they are fetched again at once. */
function useStatisticsRefresh(steps: Steps | undefined): void {
  const invalidate = useInvalidate()
  const happened = steps && [steps.sent, steps.opened, steps.clicked].filter(Boolean).length
  const known = useRef(happened)
  useEffect(() => {
    if (known.current !== undefined && known.current !== happened) void invalidate(keys.overviews)
    known.current = happened
  }, [happened, invalidate])
}

type StepProps = { done: boolean; title: string; purpose: string; action?: ReactNode }

function Step({ done, title, purpose, action }: StepProps) {
  return (
    <li className={classes.step} data-done={done || undefined}>
      {done ? (
        <IconCircleCheckFilled size={20} className={classes.tick} role="img" aria-label="Done" />
      ) : (
        <IconCircle size={20} className={classes.open} role="img" aria-label="To do" />
      )}
      <div className={classes.text}>
        <strong>{title}</strong>
        <Text size="xs" c="dimmed">
          {purpose}
        </Text>
        {!done && action}
      </div>
    </li>
  )
}

const StepLink = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to} size="sm">
    {children}
  </Anchor>
)

/** With a mail server the built-in inbox stays empty; the message page shows the delivery. */
function GoToMessage({ to = '' }: { to: string | undefined }) {
  const newest = useQuery({ ...newestMessageQuery(to), enabled: to !== '' })
  return newest.data ? <StepLink to={paths.message(newest.data.id)}>View the message</StepLink> : null
}

function SendWelcome({ email }: { email: string | undefined }) {
  const invalidate = useInvalidate()
  const send = useMutation({
    mutationFn: sendWelcome,
    onSuccess: () => invalidate(keys.checklist, keys.flows, keys.inbox, keys.messages),
  })
  const suppressed = send.data?.status === 'suppressed' ? send.data : undefined
  const waiting = send.isSuccess && !suppressed
  const late = useLate(waiting)
  return (
    <Stack gap={6} align="flex-start" mt={4}>
      <Button
        size="compact-sm"
        disabled={!email}
        loading={send.isPending || (waiting && !late)}
        onClick={() => email && send.mutate(email)}
      >
        Send it
      </Button>
      {suppressed && <NotSent messageId={suppressed.message_id} />}
      {late && (
        <Notice tone="warn" role="status">
          Not sent yet. See <StepLink to={paths.messages}>Messages</StepLink> for the reason.
        </Notice>
      )}
      {send.isError && <ErrorLine>{messageOf(send.error)}</ErrorLine>}
    </Stack>
  )
}

/** Whether `waiting` has been true for longer than expected. */
function useLate(waiting: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return
    const timer = setTimeout(() => setLate(true), expectedWithinMs)
    return () => {
      clearTimeout(timer)
      setLate(false)
    }
  }, [waiting])
  return late
}
