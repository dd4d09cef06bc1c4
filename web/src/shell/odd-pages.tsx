import { Button } from '@mantine/core'
import { IconFeather } from '@tabler/icons-react'
import { Link, useRouteError } from 'react-router'
import { messageOf, unreachable } from '../api/api-error.ts'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import { Empty, Failed, LoadingRows } from '../ui/states.tsx'
import { isUnloaded, useReload } from './unloaded.ts'

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

/** A part of the app that could not be fetched, or a fault of ours. */
export function BrokenPage() {
  const error = useRouteError()
  return isUnloaded(error) ? <UnloadedPage error={error} /> : <FaultyPage error={error} />
}

function UnloadedPage({ error }: { error: Error }) {
  const { reload, reloading } = useReload(error)
  return (
    <Page title="Not loaded">
      <Failed error={unreachable()} retry={reload} retrying={reloading} />
    </Page>
  )
}

function FaultyPage({ error }: { error: unknown }) {
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
