import { Anchor, Button, List, Paper, Stack, Text, Title } from '@mantine/core'
import { IconChecklist, IconSend } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'react-router'
import { formProblem } from '../api/api-error.ts'
import type { BroadcastCheck, BroadcastDetail, Flow } from '../api/types.ts'
import { paths } from '../paths.ts'
import { useMe } from '../session/session.api.ts'
import { emailText } from '../ui/email-text.ts'
import { Notice } from '../ui/notice.tsx'
import { count, pluralize } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { checkBroadcast } from './broadcasts.api.ts'
import classes from './check-panel.module.css'
import type { Draft } from './draft.ts'
import { StartDialog } from './start-dialog.tsx'
import { TestDialog } from './test-dialog.tsx'

type Props = {
  broadcast: BroadcastDetail
  draft: Draft
  flow: Flow | undefined
  dirty: boolean
  /** Whether the flow or the audience is missing. */
  isIncomplete: boolean
  ensureSaved: () => Promise<void>
}

/** Check, test and start, in this order. */
export function CheckPanel({ broadcast, draft, flow, dirty, isIncomplete, ensureSaved }: Props) {
  const me = useMe()
  const [testing, setTesting] = useState(false)
  const [starting, setStarting] = useState(false)
  const check = useMutation({
    mutationFn: async () => {
      await ensureSaved()
      return checkBroadcast(broadcast.id)
    },
  })
  const { reset } = check
  // The result belongs to the draft as it was.
  useEffect(() => {
    if (dirty) reset()
  }, [dirty, reset])
  const recipients = check.data?.recipients ?? 0
  const mayStart = me.data?.user.can_start_broadcasts ?? false
  const verb = draft.when === 'now' ? 'Start' : 'Schedule'
  return (
    <Paper withBorder p="md" component="section" aria-label="Before sending">
      <Title order={2} mb="sm">
        Before sending
      </Title>
      <Stack gap="sm">
        {isIncomplete && (
          <Text size="sm" c="dimmed">
            Choose a flow and an audience first.
          </Text>
        )}
        <Button
          variant={check.data ? 'default' : 'filled'}
          leftSection={<IconChecklist size={16} aria-hidden />}
          disabled={isIncomplete}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {check.data ? 'Check again' : 'Check recipients'}
        </Button>
        <ErrorLine>{formProblem(check.error)}</ErrorLine>
        {check.data && <CheckResult check={check.data} />}
        <Button
          variant="default"
          leftSection={<IconSend size={16} aria-hidden />}
          disabled={isIncomplete}
          onClick={() => setTesting(true)}
        >
          Send test email
        </Button>
        {check.data && (
          <Button disabled={recipients === 0 || !mayStart} onClick={() => setStarting(true)}>
            {`${verb} for ${pluralize(recipients, 'recipient', 'recipients')}`}
          </Button>
        )}
        {!mayStart && me.data && (
          <Text size="xs" c="dimmed">
            You can’t start broadcasts. Ask an owner for permission.
          </Text>
        )}
      </Stack>
      <TestDialog
        opened={testing}
        onClose={() => setTesting(false)}
        broadcastId={broadcast.id}
        variants={draft.variants.length}
        ensureSaved={ensureSaved}
      />
      <StartDialog
        opened={starting}
        onClose={() => setStarting(false)}
        broadcast={broadcast}
        draft={draft}
        flow={flow}
        recipients={recipients}
        onRejected={reset}
      />
    </Paper>
  )
}

function CheckResult({ check }: { check: BroadcastCheck }) {
  return (
    <Stack gap="sm" role="status">
      <dl className={classes.counts}>
        <Line name="Contacts in the audience" value={check.audience} />
        <Line name="Unsubscribed" value={-check.unsubscribed} />
        <Line name="Not subscribed" value={-check.not_subscribed} />
        <Line name="Suppressed" value={-check.suppressed} />
        <Line name="Recipients" value={check.recipients} strong />
      </dl>
      {check.recipients === 0 && (
        <Notice tone="warn" title="Nobody would receive it">
          Choose another audience. A marketing flow is sent to subscribed contacts only.
        </Notice>
      )}
      {check.incomplete > 0 && (
        <Notice tone="warn" title={`${pluralize(check.incomplete, 'recipient lacks', 'recipients lack')} a variable`}>
          Their emails would fail. Set a value above, add a default to the flow, or complete the contacts.
          <List size="sm" mt="xs">
            {check.incomplete_contacts.map(({ id, email, variables }) => (
              <List.Item key={id}>
                <Anchor component={Link} to={paths.contact(id)} className="break">
                  {emailText(email)}
                </Anchor>
                : {variables.join(', ')}
              </List.Item>
            ))}
          </List>
        </Notice>
      )}
      {check.checked < check.recipients && (
        <Text size="xs" c="dimmed">
          The variables of {count(check.checked)} of {count(check.recipients)} recipients were checked.
        </Text>
      )}
      {check.unused_context_keys.length > 0 && (
        <Text size="xs" c="dimmed">
          The flow does not use: {check.unused_context_keys.join(', ')}.
        </Text>
      )}
    </Stack>
  )
}

function Line({ name, value, strong = false }: { name: string; value: number; strong?: boolean }) {
  return (
    <div data-strong={strong || undefined}>
      <dt>{name}</dt>
      <dd className="number">{value < 0 ? `− ${count(-value)}` : count(Math.abs(value))}</dd>
    </div>
  )
}
