import { ActionIcon, Burger, Drawer } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { Link, Navigate, Outlet, useLocation, useNavigation } from 'react-router'
import { setPasswordDialog, usePasswordDialog } from '../accounts/session/open-password.ts'
import { useSession } from '../accounts/session/session.ts'
import { paths } from '../paths.ts'
import { openSearch, useSearchRequests } from '../search/open-search.ts'
import { Brand, Nav } from './nav.tsx'
import { OfflineBar } from './offline-bar.tsx'
import { SendingBanner } from './sending-banner.tsx'
import classes from './shell.module.css'

const PasswordDialog = lazy(async () => ({
  default: (await import('../accounts/session/password-dialog.tsx')).PasswordDialog,
}))
const RenewSession = lazy(async () => ({
  default: (await import('../accounts/session/renew-session.tsx')).RenewSession,
}))
const Search = lazy(async () => ({ default: (await import('../search/search.tsx')).Search }))

/** Everything behind the login. The page stays mounted while an expired session is renewed: no input is lost. */
export function Shell() {
  const session = useSession()
  const location = useLocation()
  if (session.kind === 'out') {
    const next = location.pathname === '/' ? '' : `?next=${encodeURIComponent(location.pathname + location.search)}`
    return <Navigate to={`${paths.login}${next}`} replace />
  }
  return (
    <>
      <AppLayout />
      <Suspense>{session.kind === 'expired' && <RenewSession email={session.session.email} />}</Suspense>
    </>
  )
}

function AppLayout() {
  const [opened, drawer] = useDisclosure(false)
  const main = useFocusOnNavigation()
  const isLoading = useNavigation().state === 'loading'
  useHotkeys([['mod+K', openSearch]], [])
  return (
    <div className={classes.frame}>
      <button type="button" className={classes.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <div className={`${classes.progress} progress-line`} data-on={isLoading || undefined} />
      <aside className={classes.side}>
        <Link to={paths.overview} className={classes.home}>
          <Brand />
        </Link>
        <Nav />
      </aside>
      <header className={classes.top}>
        <Burger opened={opened} onClick={drawer.toggle} size="sm" aria-label="Menu" />
        <Link to={paths.overview} className={classes.home}>
          <Brand />
        </Link>
        <ActionIcon ml="auto" size="lg" aria-label="Search" onClick={openSearch}>
          <IconSearch size={20} aria-hidden />
        </ActionIcon>
      </header>
      <Drawer
        opened={opened}
        onClose={drawer.close}
        size={280}
        title={<Brand />}
        closeButtonProps={{ 'aria-label': 'Close menu' }}
        classNames={{ content: classes.drawer ?? '', body: classes.drawerBody ?? '' }}
      >
        <Nav onLeave={drawer.close} />
      </Drawer>
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <OfflineBar />
        <SendingBanner />
        <Outlet />
      </main>
      <SearchOnDemand />
      <PasswordOnDemand />
    </div>
  )
}

function SearchOnDemand() {
  const wanted = useSearchRequests()
  return <Suspense>{wanted > 0 && <Search />}</Suspense>
}

function PasswordOnDemand() {
  const opened = usePasswordDialog()
  return <Suspense>{opened && <PasswordDialog onClose={() => setPasswordDialog(false)} />}</Suspense>
}

/** Announces the new page to screen readers and moves the keyboard focus to its top. */
function useFocusOnNavigation() {
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    main.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [pathname])
  return main
}
