import { Button } from '@mantine/core'
import { IconFeather } from '@tabler/icons-react'
import { Link, useRouteError } from 'react-router'
import { messageOf } from '../api/api-error.ts'
import { unreachableError } from '../api/network-errors.ts'
import { paths } from '../paths.ts'
import { Page } from '../ui/page.tsx'
import { Empty, Failed, LoadingRows } from '../ui/states.tsx'
import { isLoadError, useReload } from './load-errors.ts'

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty
        title="This page doesn’t exist"
        icon={IconFeather}
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

/** Shown if a script of the app could not be loaded, or if rendering failed. */
export function ErrorPage() {
  const error = useRouteError()
  return isLoadError(error) ? <LoadErrorPage error={error} /> : <CrashPage error={error} />
}

function LoadErrorPage({ error }: { error: Error }) {
  const { reload, reloading } = useReload(error)
  return (
    <Page title="Page not loaded">
      <Failed error={unreachableError()} retry={reload} retrying={reloading} />
    </Page>
  )
}

function CrashPage({ error }: { error: unknown }) {
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

export function LoadingPage() {
  return (
    <Page title="Waxwing">
      <LoadingRows />
    </Page>
  )
}
