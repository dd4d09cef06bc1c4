import { Button } from '@mantine/core'
import { IconFeather } from '@tabler/icons-react'
import { Link, useRouteError } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import { Empty, LoadingRows } from '../ui/states.tsx'

export function MissingPage() {
  return (
    <Page title="No such page">
      <Empty
        title="There is nothing at this address"
        icon={<IconFeather size={32} aria-hidden />}
        action={
          <Button component={Link} to={paths.overview}>
            Go to the overview
          </Button>
        }
      >
        The link may be old, or the address mistyped.
      </Empty>
    </Page>
  )
}

/** A fault of ours, or a script that could not be fetched since the service was updated: both are helped by a reload. */
export function BrokenPage() {
  const error = useRouteError()
  return (
    <Page title="Something broke">
      <Empty
        title="This page could not be shown"
        action={<Button onClick={() => window.location.reload()}>Reload</Button>}
      >
        {messageOf(error)}
      </Empty>
    </Page>
  )
}

export function StartingPage() {
  return (
    <Page title="Waxwing">
      <LoadingRows />
    </Page>
  )
}
