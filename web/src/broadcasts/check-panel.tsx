import { Anchor, Button, Code, List, Paper, Stack, Text, Title } from '@mantine/core'
import { IconChecklist, IconSend } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Fragment, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { useMay } from '../accounts/session/session.api.ts'
import { formProblem } from '../api/api-error.ts'
import type { BroadcastCheck, BroadcastDetail, TestEmail } from '../api/types.ts'
import { EmailCheck } from '../content/flows/email-check.tsx'
import { paths } from '../paths.ts'
import { TestEmailDialog } from '../sending/messages/test-email-dialog.tsx'
import { emailText } from '../ui/email-text.ts'
import { Notice } from '../ui/notice.tsx'
import { count, pluralize } from '../ui/numbers.ts'
import { ErrorLine } from '../ui/states.tsx'
import { checkBroadcast, testBroadcast } from './broadcasts.api.ts'
import classes from './check-panel.module.css'
import { type Draft, isPast, variantKeys } from './draft.ts'
import { problemOfTest, problemsOf } from './draft-problems.ts'
import { PlanSummary } from './plan-summary.tsx'
import { StartDialog, unsubscribedText } from './start-dialog.tsx'

type Props = {
  broadcast: BroadcastDetail
  draft: Draft
  dirty: boolean
  /** What is missing before it can be checked. */
  missing: string | undefined
  ensureSaved: () => Promise<unknown>
}

/** Check, test and start, in this order. */
export function CheckPanel({ broadcast, draft, dirty, missing, ensureSaved }: Props) {
  const may = useMay()
  const [testing, setTesting] = useState(false)
  const [starting, setStarting] = useState(false)
  const [rejected, setRejected] = useState(false)
  const check = useMutation({
    mutationFn: async () => {
      await ensureSaved()
      return checkBroadcast(broadcast.id)
    },
  })
  const { reset } = check
  // The result, or the error, belongs to the draft as it was checked.
  useEffect(() => {
    if (dirty && draft) reset()
  }, [dirty, draft, reset])
  const closeStart = () => {
    setStarting(false)
    setRejected(false)
    if (rejected) reset()
  }
  const sendTest = async (to: string[]) => {
    await ensureSaved()
    const emails: TestEmail[] = []
    for (const address of to)
      for (const variant of draft.variants.length > 0 ? variantKeys.slice(0, draft.variants.length) : [undefined])
        emails.push(await testBroadcast(broadcast.id, address, variant))
    return emails
  }
  const isScheduled = broadcast.status === 'scheduled'
  const recipients = check.data ? check.data.recipients - check.data.incomplete : 0
  const problem =
    missing ?? Object.values(problemsOf(draft))[0] ?? (isPast(draft) ? 'Choose a time in the future first.' : undefined)
  const canStart = may('broadcasts:send')
  const mayStart = canStart && (may('broadcasts:announce') || !draft.service_announcement)
  const verb = draft.schedule.when === 'now' ? 'Start' : 'Schedule'
  return (
    <Paper withBorder p="md" component="section" aria-label="Before sending">
      <Title order={2} mb="sm">
        Before sending
      </Title>
      <Stack gap="sm">
        {problem && (
          <Text size="sm" c="dimmed">
            {problem}
          </Text>
        )}
        <Button
          variant={check.data ? 'default' : 'filled'}
          leftSection={<IconChecklist size={16} aria-hidden />}
          disabled={problem !== undefined}
          loading={check.isPending}
          onClick={() => check.mutate()}
        >
          {check.data ? 'Check again' : isScheduled && dirty ? 'Save and check' : 'Check recipients'}
        </Button>
        <ErrorLine>{formProblem(check.error)}</ErrorLine>
        {check.data && <CheckResult check={check.data} isAnnouncement={draft.service_announcement} />}
        {check.data && (
          <EmailCheck
            blockers={check.data.blockers}
            findings={check.data.findings}
            links={check.data.links}
            editorPath={draft.flow_id ? paths.flowTab(draft.flow_id, 'edit') : undefined}
          />
        )}
        <Button
          variant="default"
          leftSection={<IconSend size={16} aria-hidden />}
          disabled={(missing ?? problemOfTest(draft)) !== undefined}
          onClick={() => setTesting(true)}
        >
          Send test email
        </Button>
        {check.data && isScheduled && (
          <PlanSummary check={check.data} test={draft} isAnnouncement={draft.service_announcement} />
        )}
        {check.data && !isScheduled && (
          <Button disabled={recipients === 0 || !mayStart} onClick={() => setStarting(true)}>
            {`${verb} for ${pluralize(recipients, 'recipient', 'recipients')}`}
          </Button>
        )}
        {!mayStart && !isScheduled && may('broadcasts:write') && (
          <Text size="xs" c="dimmed">
            {canStart
              ? 'Only owners can start a service announcement. Ask an owner to start it.'
              : 'You can’t start broadcasts. Ask an owner for permission.'}
          </Text>
        )}
      </Stack>
      <TestEmailDialog opened={testing} onClose={() => setTesting(false)} send={sendTest}>
        Uses the variables of this broadcast.{draft.variants.length > 0 && ' Sends one email per variant.'}
      </TestEmailDialog>
      {check.data && (
        <StartDialog
          opened={starting}
          onClose={closeStart}
          kind={draft.schedule.when === 'now' ? 'start' : 'schedule'}
          broadcast={{ ...draft, id: broadcast.id }}
          check={check.data}
          onRejected={() => setRejected(true)}
        />
      )}
    </Paper>
  )
}

function CheckResult({ check, isAnnouncement }: { check: BroadcastCheck; isAnnouncement: boolean }) {
  const willGet = check.recipients - check.incomplete
  return (
    <Stack gap="sm" role="status">
      <dl className={classes.counts}>
        <Line name="Contacts in the audience" value={check.audience} />
        {!isAnnouncement && (
          <>
            <Line name="Unsubscribed" value={-check.unsubscribed} />
            <Line name="Not subscribed" value={-check.not_subscribed} />
          </>
        )}
        <Line name="Suppressed" value={-check.suppressed} />
        {check.incomplete > 0 && <Line name="Missing variables" value={-check.incomplete} />}
        <Line name="Recipients who will get it" value={willGet} strong />
      </dl>
      {isAnnouncement && (
        <Notice tone="bad" title={`It also goes to ${unsubscribedText(check.unsubscribed)}`}>
          A service announcement ignores subscriptions.
        </Notice>
      )}
      {check.recipients === 0 && (
        <Notice tone="warn" title="Nobody would receive it">
          Choose another audience. A marketing flow is sent to subscribed contacts only.
        </Notice>
      )}
      {check.incomplete > 0 && <MissingVariables check={check} />}
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

const examplesMax = 3

/** One line for each variable, with some of the contacts that lack it. */
function MissingVariables({ check }: { check: BroadcastCheck }) {
  const all = check.checked
  return (
    <Notice tone="warn" title={`${pluralize(check.incomplete, 'recipient lacks', 'recipients lack')} a variable`}>
      They won’t get the email. Set a value for all recipients, add a default to the flow, or add the attribute to these
      contacts.
      <List size="sm" mt="xs">
        {check.missing_variables.map(({ variable, contacts }) => (
          <List.Item key={variable}>
            <Code>{variable}</Code> is missing for{' '}
            {contacts === all ? `all ${count(all)}` : `${count(contacts)} of ${count(all)}`}
            {contacts < all && <Examples check={check} variable={variable} />}
          </List.Item>
        ))}
      </List>
    </Notice>
  )
}

function Examples({ check, variable }: { check: BroadcastCheck; variable: string }) {
  const contacts = check.incomplete_contacts.filter(({ variables }) => variables.includes(variable))
  if (contacts.length === 0) return null
  return (
    <>
      {', for example '}
      {contacts.slice(0, examplesMax).map(({ id, email }, at) => (
        <Fragment key={id}>
          {at > 0 && ', '}
          <Anchor component={Link} to={paths.contact(id)} className="break">
            {emailText(email)}
          </Anchor>
        </Fragment>
      ))}
    </>
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
