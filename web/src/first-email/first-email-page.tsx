import { Anchor, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Domain, SendingStatus } from '../api/types.ts'
import { domainsQuery } from '../domains/domains.api.ts'
import { paths } from '../paths.ts'
import { sendingQuery } from '../settings/settings.api.ts'
import { Page } from '../ui/page.tsx'
import { Load } from '../ui/states.tsx'
import { SendStep } from './send-step.tsx'
import { SetupStep } from './setup-step.tsx'

const refetchMs = 3_000

/** Leads from the built-in inbox to a received email, with what is missing at each step. */
export function FirstEmailPage() {
  const sending = useQuery({ ...sendingQuery, refetchInterval: refetchMs })
  const domains = useQuery({ ...domainsQuery, refetchInterval: refetchMs })
  return (
    <Page
      title="Send your first real email"
      description="From the built-in inbox to an email in a real mailbox, step by step."
      back={{ to: paths.sending, label: 'Sending' }}
    >
      <Load query={sending}>
        {(state) => <Load query={domains}>{(list) => <Steps sending={state} domains={list} />}</Load>}
      </Load>
    </Page>
  )
}

function Steps({ sending, domains }: { sending: SendingStatus; domains: Domain[] }) {
  const verified = domains.filter(({ status }) => status === 'verified' || status === 'warning')
  return (
    <Stack component="ol" gap="md" p={0} m={0} style={{ listStyle: 'none' }}>
      <MailServerStep sending={sending} />
      <DomainStep sending={sending} domains={domains} verified={verified} />
      {sending.details && <LinksStep sending={sending} />}
      <BouncesStep sending={sending} />
      <SendStep sending={sending} verified={verified} />
    </Stack>
  )
}

const StepLink = ({ to, children }: { to: string; children: string }) => (
  <Anchor component={Link} to={to}>
    {children}
  </Anchor>
)

function MailServerStep({ sending }: { sending: SendingStatus }) {
  const { transport, mail_servers: servers, state, last_error: error } = sending
  const untested = servers.filter(({ status }) => status === 'untested')
  const working = servers.find(({ status }) => status === 'working')
  const isDone = transport === 'smtp' && state !== 'failing' && (servers.length === 0 || working !== undefined)
  return (
    <SetupStep title="Connect a mail server" state={isDone ? 'done' : state === 'failing' ? 'problem' : 'open'}>
      {transport === 'inbox' && (
        <Text>Emails stay in the built-in inbox until a mail server is connected. Nobody else receives them.</Text>
      )}
      {transport === 'smtp' && state === 'failing' && (
        <Text className="break">
          {error ?? 'The mail server of this installation does not accept email at the moment.'}
        </Text>
      )}
      {transport === 'smtp' && state !== 'failing' && servers.length === 0 && (
        <Text>Emails go through the mail server of this installation. You can also add your own.</Text>
      )}
      {working && <Text>Emails go through {working.name}, which accepts email.</Text>}
      {servers.length > 0 && state === 'unknown' && (
        <Text>{untested.map(({ name }) => `${name} has not been tested yet.`).join(' ')}</Text>
      )}
      <StepLink to={paths.mailServers}>{servers.length > 0 ? 'Test your mail server' : 'Add a mail server'}</StepLink>
    </SetupStep>
  )
}

type DomainProps = { sending: SendingStatus; domains: Domain[]; verified: Domain[] }

function DomainStep({ sending, domains, verified }: DomainProps) {
  const [first] = verified
  const [pending] = domains
  const missing = pending?.records.filter(({ required, status }) => required && status !== 'ok').length ?? 0
  const isDone = first !== undefined || sending.dkim !== null
  return (
    <SetupStep title="Verify your domain" state={isDone ? 'done' : 'open'}>
      {first && <Text>Emails from {first.name} are signed, so that receivers trust them.</Text>}
      {!first && sending.dkim && <Text>Emails from {sending.dkim.domain} are signed by this installation.</Text>}
      {!isDone && !pending && (
        <Text>
          Receivers reject or hide email from domains that are not set up. Add the domain of your From address.
        </Text>
      )}
      {!isDone && pending && (
        <Text>
          {pending.name} waits for {missing} DNS {missing === 1 ? 'record' : 'records'}. They are looked up every
          minute.
        </Text>
      )}
      {pending && !first ? (
        <StepLink to={paths.domain(pending.id)}>{`Records of ${pending.name}`}</StepLink>
      ) : (
        <StepLink to={paths.domains}>{domains.length > 0 ? 'Your domains' : 'Add a domain'}</StepLink>
      )}
    </SetupStep>
  )
}

/** For operators: settings of the installation. */
function LinksStep({ sending: { problems } }: { sending: SendingStatus }) {
  return (
    <SetupStep title="Make links reachable" state={problems.length === 0 ? 'done' : 'open'}>
      {problems.length === 0 && <Text>Links in emails and the default sender can be used by everybody.</Text>}
      {problems.map(({ message }) => (
        <Text key={message}>{message}</Text>
      ))}
    </SetupStep>
  )
}

function BouncesStep({ sending }: { sending: SendingStatus }) {
  const { bounce_domain: domain, bounce_providers: providers, mail_servers: servers } = sending
  const sources = [...(domain ? [`email to ${domain}`] : []), ...providers]
  return (
    <SetupStep title="Receive bounces" isOptional state={sources.length > 0 ? 'done' : 'open'}>
      {sources.length > 0 ? (
        <Text>Bounces and complaints arrive by {sources.join(' and ')}.</Text>
      ) : (
        <Text>
          Without them, addresses that no longer exist are not suppressed. Email providers report them to an address
          that is shown with your mail server; otherwise the operator sets BOUNCE_DOMAIN and BOUNCE_SMTP_PORT.
        </Text>
      )}
      {servers.length > 0 && <StepLink to={paths.mailServers}>Reports of your provider</StepLink>}
    </SetupStep>
  )
}
