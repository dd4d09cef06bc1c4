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
    <Page title="Page not found">
      <Empty
        title="This page doesn’t exist"
        icon={<IconFeather size={32} aria-hidden />}
        action={
          <Button component={Link} to={paths.overview}>
            Go to overview
          </Button>
        }
      >
        The link may be outdated, or the address may contain a typo.
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
    <Page title="Page not loaded">
      <Failed error={unreachable()} retry={reload} retrying={reloading} />
    </Page>
  )
}

function FaultyPage({ error }: { error: unknown }) {
  return (
    <Page title="Something went wrong">
      <Empty
        title="This page couldn’t be displayed"
        action={<Button onClick={() => window.location.reload()}>Reload page</Button>}
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
