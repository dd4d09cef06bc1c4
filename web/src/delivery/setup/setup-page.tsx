import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { useMay } from '../../accounts/session/session.api.ts'
import { setupQuery } from '../../accounts/settings/settings.api.ts'
import type { SendingSetup } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Section } from '../../ui/section.tsx'
import { Load } from '../../ui/states.tsx'
import { BaseUrlDialog } from './base-url-dialog.tsx'
import { DefaultSenderDialog } from './default-sender-dialog.tsx'
import { SendingDetails } from './details.tsx'
import { SendForm } from './send-step.tsx'
import { SetupStep } from './setup-step.tsx'

const refetchMs = 3_000
/** Once everything works, the page is rarely watched. */
const readyRefetchMs = 15_000

type Step = SendingSetup['steps'][number]

/** From no mail server to an email in a real mailbox, with the one action that is needed at each step. */
export function SetupPage() {
  const setup = useQuery({
    ...setupQuery,
    refetchInterval: ({ state }) => (state.data?.ready ? readyRefetchMs : refetchMs),
  })
  return (
    <>
      <Section
        title="Setup"
        titleHidden
        description={
          setup.data?.ready
            ? 'Everything that real email needs is set up.'
            : 'From no mail server to an email in a real mailbox, step by step.'
        }
      >
        <Load query={setup}>
          {(state) => (
            <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
              {state.steps.map((step) => (
                <StepRow key={step.key} step={step} setup={state} />
              ))}
            </Stack>
          )}
        </Load>
      </Section>
      <SendingDetails />
    </>
  )
}

const titles: Record<Step['key'], string> = {
  mail_server: 'Connect a mail server',
  domain: 'Verify your domain',
  default_sender: 'Choose the default sender',
  base_url: 'Make links reachable',
  dns: 'Publish SPF, DKIM and DMARC',
  bounces: 'Receive bounces',
  postal_address: 'Show your postal address',
  first_email: 'Send an email to yourself',
}

function StepRow({ step, setup }: { step: Step; setup: SendingSetup }) {
  return (
    <SetupStep title={titles[step.key]} state={step.state} isOptional={!step.required}>
      <Text className="break">{step.message}</Text>
      <StepAction step={step} setup={setup} />
    </SetupStep>
  )
}

const StepLink = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to}>
    {children}
  </Anchor>
)

/** What corrects the step. */
function StepAction({ step, setup }: { step: Step; setup: SendingSetup }) {
  const { key, state, domain_id: domainId, mail_server_id: serverId } = step
  const isDone = state === 'done'
  switch (key) {
    case 'mail_server':
      if (serverId) return <StepLink to={paths.mailServer(serverId)}>Test the mail server</StepLink>
      return <StepLink to={paths.mailServers}>{isDone ? 'Your mail servers' : 'Add a mail server'}</StepLink>
    case 'domain':
    case 'dns':
      if (domainId) return <StepLink to={paths.domain(domainId)}>Show the records</StepLink>
      if (key === 'dns') return null
      return <StepLink to={paths.domains}>{isDone ? 'Your domains' : 'Add a domain'}</StepLink>
    case 'default_sender':
      return <DefaultSenderAction setup={setup} isDone={isDone} />
    case 'base_url':
      return <BaseUrlAction setup={setup} isDone={isDone} />
    case 'bounces':
      if (isDone) return null
      return (
        <StepLink to={serverId ? paths.mailServer(serverId) : paths.mailServers}>Reports of your provider</StepLink>
      )
    case 'postal_address':
      return <StepLink to={paths.brand}>{isDone ? 'Your brand' : 'Add the address'}</StepLink>
    case 'first_email':
      return <SendForm isDone={isDone} />
  }
}

type ActionProps = { setup: SendingSetup; isDone: boolean }

function DefaultSenderAction({ setup, isDone }: ActionProps) {
  const may = useMay()
  const [opened, setOpened] = useState(false)
  if (!may('organization:write')) return isDone ? null : <Text c="dimmed">Ask an owner of your organization.</Text>
  return (
    <>
      <Button size="xs" variant={isDone ? 'default' : 'filled'} onClick={() => setOpened(true)}>
        {isDone ? 'Change' : 'Choose a sender'}
      </Button>
      {opened && <DefaultSenderDialog setup={setup} onClose={() => setOpened(false)} />}
    </>
  )
}

/** Only operators can change it, unless the environment has set it. */
function BaseUrlAction({ setup: { base_url: address }, isDone }: ActionProps) {
  const may = useMay()
  const [opened, setOpened] = useState(false)
  if (!may('installation:write') || address.source === 'environment') return null
  return (
    <>
      <Button size="xs" variant={isDone ? 'default' : 'filled'} onClick={() => setOpened(true)}>
        {isDone ? 'Change' : 'Enter the address'}
      </Button>
      {opened && <BaseUrlDialog address={address} onClose={() => setOpened(false)} />}
    </>
  )
}
