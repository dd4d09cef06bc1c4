import { Anchor, Button } from '@mantine/core'
import { IconChartBar, IconPencil, IconSend } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Flow } from '../../../api/types.ts'
import { paths } from '../../../paths.ts'
import { Empty } from '../../../ui/states.tsx'

type Props = { flow: Flow; onTest: () => void }

/** The next step for a flow that has no results yet. */
export function NeverSent({ flow, onTest }: Props) {
  return (
    <Empty
      title={flow.status === 'draft' ? 'Not published yet' : 'No emails sent yet'}
      icon={IconChartBar}
      action={
        <>
          <Button
            component={Link}
            to={paths.flowTab(flow.id, 'edit')}
            leftSection={<IconPencil size={16} aria-hidden />}
          >
            Edit email
          </Button>
          <Button variant="default" leftSection={<IconSend size={16} aria-hidden />} onClick={onTest}>
            Send test email
          </Button>
        </>
      }
    >
      {nextStep(flow)} This page then shows how many people opened it, clicked and unsubscribed, and how many emails
      bounced. Test emails are not counted.
    </Empty>
  )
}

function nextStep({ id, status }: Flow): ReactNode {
  switch (status) {
    case 'draft':
      return 'Publish the flow, then send it through the API or as a broadcast.'
    case 'active':
      return (
        <>
          Send the flow{' '}
          <Anchor component={Link} to={paths.flowTab(id, 'use')}>
            through the API
          </Anchor>{' '}
          or{' '}
          <Anchor component={Link} to={paths.broadcasts}>
            as a broadcast
          </Anchor>
          .
        </>
      )
    case 'paused':
    case 'archived':
      return `The flow is ${status}. Activate it, then send it through the API or as a broadcast.`
  }
}
