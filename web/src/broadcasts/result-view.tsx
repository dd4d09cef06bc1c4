import { Anchor, Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { BroadcastDetail } from '../api/types.ts'
import { groupsQuery } from '../audience/contacts/contacts.api.ts'
import { segmentsQuery } from '../audience/segments/segments.api.ts'
import { flowQuery } from '../content/flows/flows.api.ts'
import { utmQuery } from '../content/flows/utm.ts'
import { paths } from '../paths.ts'
import { Copyable } from '../ui/copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { count } from '../ui/numbers.ts'
import { Time } from '../ui/time.tsx'
import { NotOpened } from './audience-fields.tsx'
import { weekdays } from './draft.ts'
import classes from './draft-view.module.css'
import { Funnel } from './funnel.tsx'
import { HoursPanel } from './hours-panel.tsx'
import { Links } from './links.tsx'
import { localTimeText } from './local-time.ts'
import { BroadcastProgress } from './progress.tsx'
import { Recipients } from './recipients.tsx'
import { ResultEmail } from './result-email.tsx'
import { useRefetch } from './use-refetch.ts'
import { Variants } from './variants.tsx'

/** Everything about a broadcast that is no longer a draft. */
export function ResultView({ broadcast }: { broadcast: BroadcastDetail }) {
  useRefetch(broadcast)
  return (
    <>
      <Facts facts={factsOf(broadcast)} more={detailsOf(broadcast)} />
      <BroadcastProgress broadcast={broadcast} />
      {broadcast.recipients === null ? (
        <ResultEmail broadcast={broadcast} />
      ) : (
        <>
          <div className={classes.columns}>
            <div>
              <Funnel broadcast={broadcast} />
              {broadcast.variants.length > 0 && <Variants broadcast={broadcast} />}
              <HoursPanel broadcast={broadcast} />
              <Links broadcast={broadcast} />
            </div>
            <div className={classes.aside}>
              <ResultEmail broadcast={broadcast} />
            </div>
          </div>
          <Recipients broadcast={broadcast} />
        </>
      )}
    </>
  )
}

function factsOf(broadcast: BroadcastDetail): [string, ReactNode][] {
  const { audience } = broadcast
  return [
    ['Flow', <FlowLink key="flow" broadcast={broadcast} />],
    [
      'Audience',
      audience.all_subscribed ? (
        'All subscribed contacts'
      ) : audience.not_opened_broadcast_id === null ? (
        <Names key="audience" ids={[...audience.group_ids, ...audience.segment_ids]} />
      ) : (
        <NotOpened key="audience" id={audience.not_opened_broadcast_id} />
      ),
    ],
    ...(broadcast.subject === null ? [] : [['Subject', broadcast.subject] as [string, ReactNode]]),
    ['Started', <Time key="started" at={broadcast.started_at} none="Not yet" />],
  ]
}

function detailsOf(broadcast: BroadcastDetail): [string, ReactNode][] {
  const { audience, schedule, context } = broadcast
  const when = schedule.per_recipient ? 'local' : 'at'
  const excluded = [...audience.exclude_group_ids, ...audience.exclude_segment_ids]
  return [
    ...(broadcast.service_announcement
      ? [['Kind', 'Service announcement, also to unsubscribed contacts'] as [string, ReactNode]]
      : []),
    ...(excluded.length > 0 ? [['Excluded', <Names key="except" ids={excluded} />] as [string, ReactNode]] : []),
    [
      'Schedule',
      schedule.at === null
        ? 'Started manually'
        : localTimeText({ at: schedule.at, when, time_zone: schedule.time_zone }),
    ],
    ...(schedule.window ? [['Sending hours', windowText(schedule.window)] as [string, ReactNode]] : []),
    [
      'Emails per hour',
      broadcast.messages_per_hour === null ? 'No limit' : `At most ${count(broadcast.messages_per_hour)}`,
    ],
    ...(Object.keys(context).length > 0
      ? [['Variables', <Variables key="variables" context={context} />] as [string, ReactNode]]
      : []),
    ...(broadcast.utm === null
      ? []
      : [['Campaign parameters', <Utm key="utm" query={utmQuery(broadcast.utm)} />] as [string, ReactNode]]),
    ['Finished', <Time key="finished" at={broadcast.finished_at} none="Not yet" />],
    ['Broadcast ID', <Copyable key="id" value={broadcast.id} label="Copy broadcast ID" />],
  ]
}

const Utm = ({ query }: { query: string }) => query.split('&').map((each) => <div key={each}>{each}</div>)

const Variables = ({ context }: { context: BroadcastDetail['context'] }) =>
  Object.entries(context).map(([name, value]) => (
    <div key={name} className="break">
      <Code>{name}</Code> {typeof value === 'string' ? value : JSON.stringify(value)}
    </div>
  ))

const windowText = ({ days, from, to }: NonNullable<BroadcastDetail['schedule']['window']>) =>
  `${weekdays
    .filter(({ value }) => days.includes(value))
    .map(({ label }) => label)
    .join(', ')}, ${from} to ${to}`

function FlowLink({ broadcast: { flow_id: id, flow_version: version } }: { broadcast: BroadcastDetail }) {
  const flow = useQuery({ ...flowQuery(id ?? ''), enabled: id !== null })
  if (id === null) return '–'
  return (
    <Anchor component={Link} to={paths.flow(id)}>
      {flow.data?.name ?? id}
      {version !== null && `, version ${version}`}
    </Anchor>
  )
}

/** The names of groups and segments. */
function Names({ ids }: { ids: string[] }) {
  const groups = useQuery(groupsQuery)
  const segments = useQuery(segmentsQuery)
  const known = [...(groups.data ?? []), ...(segments.data ?? [])]
  const names = new Map(known.map(({ id, name }) => [id, name]))
  return ids.map((id) => names.get(id) ?? (groups.data && segments.data ? 'Deleted' : '…')).join(', ')
}
