import { Stack, Text } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import type { BroadcastCheck, BroadcastPlan } from '../api/types.ts'
import { leftOutText } from './left-out.ts'
import { endLine, otherBroadcastsText, planLines, speedLines, startsAtOnce, type Test } from './plan.ts'
import classes from './plan-summary.module.css'

type Props = { check: BroadcastCheck; test: Test; isAnnouncement: boolean }

/** The plan of the service: who gets the email when, which email, and who is left out. */
export function PlanSummary({ check, test, isAnnouncement }: Props) {
  const { plan } = check
  const leftOut = leftOutText(check, isAnnouncement)
  const facts: [string, ReactNode][] = [
    ['From', <Lines key="from" lines={[...new Set(plan.emails.map(senderText))]} />],
    [plan.emails.length > 1 ? 'Subjects' : 'Subject', <Lines key="subject" lines={plan.emails.map(subjectText)} />],
    ['Speed', <Lines key="speed" lines={speedLines(plan)} />],
    ['Done', endLine(plan)],
    ['Left out', leftOut || 'Nobody'],
  ]
  return (
    <Stack gap="sm" className={classes.plan ?? ''}>
      <ul className={classes.steps} aria-label="Plan">
        {planLines(plan, check.recipients, test).map(({ when, who }) => (
          <li key={`${when} ${who}`}>
            <strong>{when}</strong>
            <span>{who}</span>
          </li>
        ))}
      </ul>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      <Text size="xs" c="dimmed">
        {hasTimes(plan) && `Times are in ${plan.time_zone.replaceAll('_', ' ')}.`}
        {plan.other_broadcasts > 0 && ` ${otherBroadcastsText(plan.other_broadcasts)}`}
        {plan.starts_at !== null && ' The audience is read again when it starts, so the numbers can change until then.'}
      </Text>
    </Stack>
  )
}

const hasTimes = (plan: BroadcastPlan) =>
  plan.ends_at !== null || !startsAtOnce(plan) || plan.waits.some(({ until }) => until !== null)

const Lines = ({ lines }: { lines: string[] }) => lines.map((line) => <div key={line}>{line}</div>)

type Email = BroadcastPlan['emails'][number]

const senderText = ({ from_name: name, from_email: email }: Email) => (name ? `${name} <${email}>` : email)

/** As the first recipient gets it, because a template is harder to read. */
function subjectText({ variant, share, subject, example_subject: example }: Email): string {
  const isPersonal = example !== null && example !== subject
  const text = `“${example ?? subject}”${isPersonal ? ' (as the first recipient gets it)' : ''}`
  return variant === null ? text : `${variant} (${share}%): ${text}`
}
