import { Anchor, Skeleton, Text } from '@mantine/core'
import { IconFileCode } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { paths } from '../paths.ts'
import { useTheme } from '../shell/color-scheme.ts'
import { EmailFrame } from '../ui/email-frame.tsx'
import { Page } from '../ui/page.tsx'
import { kindLabels } from './flow-status.tsx'
import { previewQuery } from './flows.api.ts'
import { toContext } from './sample-data.ts'
import { type Starter, starters } from './starters.ts'
import classes from './starters-page.module.css'

const layoutWidth = 640

/** The first step of a new flow: a template to begin with. */
export function StartersPage() {
  return (
    <Page
      wide
      title="Create flow"
      back={{ to: paths.flows, label: 'Flows' }}
      description={
        <>
          Choose a starter. It has the look of your{' '}
          <Anchor component={Link} to={paths.brand} underline="always" inherit>
            brand
          </Anchor>
          , and every part of it can be changed.
        </>
      }
    >
      <ul className={classes.grid}>
        {starters.map((starter) => (
          <Card
            key={starter.id}
            to={paths.newFlowFrom(starter.id)}
            title={starter.title}
            description={`${starter.description}. ${kindLabels[starter.flow.kind]}.`}
          >
            <Thumbnail starter={starter} />
          </Card>
        ))}
        <Card to={paths.newFlow} title="Blank" description="A short template in HTML.">
          <div className={`${classes.picture} ${classes.blank}`}>
            <IconFileCode size={40} stroke={1.4} aria-hidden />
          </div>
        </Card>
      </ul>
    </Page>
  )
}

type CardProps = { to: string; title: string; description: string; children: ReactNode }

function Card({ to, title, description, children }: CardProps) {
  return (
    <li>
      <Link to={to} className={classes.card ?? ''}>
        {children}
        <div className={classes.text}>
          <Text fw={600}>{title}</Text>
          <Text size="xs" c="dimmed">
            {description}
          </Text>
        </div>
      </Link>
    </li>
  )
}

/** Only a picture: its links cannot be reached. */
function Thumbnail({ starter: { flow, sample } }: { starter: Starter }) {
  const { dark } = useTheme()
  const { name: _, ...text } = flow
  const context = toContext(
    sample,
    Object.keys(sample).map((name) => ({ name })),
  )
  const { data } = useQuery(previewQuery({ ...text, context }))
  return (
    <div className={classes.picture} inert aria-hidden>
      {data?.html ? (
        <EmailFrame
          html={data.html}
          title={`Preview of ${flow.name}`}
          layoutWidth={layoutWidth}
          height="240px"
          scheme={dark ? 'dark' : 'light'}
        />
      ) : (
        <Skeleton height={240} radius={0} />
      )}
    </div>
  )
}
