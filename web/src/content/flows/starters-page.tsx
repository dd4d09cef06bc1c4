import { Anchor, Button, Skeleton, Text } from '@mantine/core'
import { IconFileCode } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { paths } from '../../paths.ts'
import { EmailFrame } from '../../ui/email-frame.tsx'
import { Page } from '../../ui/page.tsx'
import { kindLabels } from './flow-status.tsx'
import { previewQuery } from './flows.api.ts'
import { toContext } from './sample-data.ts'
import { type Starter, starters } from './starters.ts'
import classes from './starters-page.module.css'

const layoutWidth = 640
/** Previews that are requested at the same time. */
const togetherMax = 3

/** The first step of a new flow: a template to begin with. */
export function StartersPage() {
  const [settled, setSettled] = useState(0)
  const countSettled = useCallback(() => setSettled((count) => count + 1), [])
  return (
    <Page
      wide
      title="Create flow"
      back={{ to: paths.flows, label: 'Flows' }}
      description={
        <>
          Choose a starter. It matches your{' '}
          <Anchor component={Link} to={paths.brand} underline="always" inherit>
            brand
          </Anchor>
          , and you can change every part of it.
        </>
      }
    >
      <ul className={classes.grid}>
        {starters.map((starter, at) => (
          <StarterCard
            key={starter.id}
            starter={starter}
            isNext={at < settled + togetherMax}
            onSettled={countSettled}
          />
        ))}
        <Card to={paths.newFlow} title="Blank" description="A short template in HTML.">
          <div className={classes.blank}>
            <IconFileCode size={40} stroke={1.4} aria-hidden />
          </div>
        </Card>
      </ul>
    </Page>
  )
}

type CardProps = { to: string; title: string; description: string; children: ReactNode; action?: ReactNode }

function Card({ to, title, description, children, action }: CardProps) {
  return (
    <li className={classes.item}>
      <Link to={to} className={classes.card ?? ''}>
        {/* Only a picture: its links cannot be reached. */}
        <div className={classes.picture} inert aria-hidden>
          {children}
        </div>
        <div className={classes.text}>
          <Text fw={600}>{title}</Text>
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        </div>
      </Link>
      {action}
    </li>
  )
}

type StarterCardProps = { starter: Starter; isNext: boolean; onSettled: () => void }

function StarterCard({ starter: { id, title, description, flow, sample }, isNext, onSettled }: StarterCardProps) {
  const { name: _, ...text } = flow
  const context = toContext(
    sample,
    Object.keys(sample).map((name) => ({ name })),
  )
  const { data, isPending, isFetching, refetch } = useQuery({
    ...previewQuery({ ...text, context }),
    enabled: isNext,
  })
  useEffect(() => {
    if (!isPending) onSettled()
  }, [isPending, onSettled])
  return (
    <Card
      to={paths.newFlowFrom(id)}
      title={title}
      description={`${description}. ${kindLabels[flow.kind]}.`}
      action={
        !isPending &&
        !data?.html && (
          <Button
            className={classes.retry ?? ''}
            size="xs"
            variant="default"
            aria-label={`Try again to load the preview of ${title}`}
            loading={isFetching}
            onClick={() => void refetch()}
          >
            Try again
          </Button>
        )
      }
    >
      {data?.html ? (
        <EmailFrame html={data.html} title={`Preview of ${title}`} layoutWidth={layoutWidth} height="240px" />
      ) : isPending ? (
        <Skeleton height={240} radius={0} />
      ) : (
        <Text className={classes.missing ?? ''} size="sm">
          No preview available
        </Text>
      )}
    </Card>
  )
}
