import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { sendingQuery } from '../accounts/settings/settings.api.ts'
import type { SendingStatus } from '../api/types.ts'
import { paths } from '../paths.ts'
import { Notice } from '../ui/notice.tsx'
import { AttemptTime, Time } from '../ui/time.tsx'
import classes from './sending-banner.module.css'

const refetchMs = 20_000

/** Replies of mail servers have no full stop, and explanations do. */
const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

/** On every page while sending is paused, or emails are queued that cannot be sent. */
export function SendingBanner() {
  const { data: sending } = useQuery({ ...sendingQuery, refetchInterval: refetchMs })
  if (sending?.paused_since) return <PausedBanner since={sending.paused_since} />
  const failing = sending?.mail_servers.filter(({ status }) => status === 'failing') ?? []
  const others = sending?.mail_servers.filter(({ status }) => status !== 'failing') ?? []
  if (sending?.state !== 'failing' && failing.length > 0)
    return <FailingServerBanner servers={failing} others={others.map(({ name }) => name)} />
  if (sending?.state !== 'failing' || (sending.queued === 0 && failing.length === 0)) return null
  return (
    <div className={classes.banner}>
      <Notice
        tone="bad"
        role="status"
        title={
          sending.queued > 0
            ? 'Emails are queued: can’t connect to the mail server'
            : 'Can’t connect to the mail server'
        }
      >
        {sending.last_error && <span className="break">{sentence(sending.last_error)} </span>}
        {sending.next_attempt_at && (
          <>
            Next attempt <AttemptTime at={sending.next_attempt_at} />.{' '}
          </>
        )}
        {sending.details || failing.length > 0 ? (
          <Anchor component={Link} to={failing.length > 0 ? paths.mailServers : paths.setup}>
            {failing.length > 0 ? 'Mail servers' : 'Setup'}
          </Anchor>
        ) : (
          'They will be sent as soon as the connection works again.'
        )}
      </Notice>
    </div>
  )
}

/** Other mail servers work. */
function FailingServerBanner({ servers, others }: { servers: SendingStatus['mail_servers']; others: string[] }) {
  return (
    <div className={classes.banner}>
      {servers.map(({ id, name, failure, next_try_at: next }) => (
        <Notice key={id} tone="warn" role="status" title={`The mail server ${name} does not accept email`}>
          {failure && <span className="break">{sentence(failure)} </span>}
          Sent through {new Intl.ListFormat('en', { type: 'disjunction' }).format(others)} instead.{' '}
          {next && (
            <>
              Next attempt <AttemptTime at={next} />.{' '}
            </>
          )}
          <Anchor component={Link} to={paths.mailServers}>
            Mail servers
          </Anchor>
        </Notice>
      ))}
    </div>
  )
}

function PausedBanner({ since }: { since: string }) {
  return (
    <div className={classes.banner}>
      <Notice tone="warn" role="status" title="Sending is paused">
        Paused <Time at={since} />. Emails and webhooks are accepted and stay queued until the operator of this
        installation runs <code>waxwing resume-sending</code>.
      </Notice>
    </div>
  )
}
