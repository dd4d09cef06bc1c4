import { Kbd, Menu, UnstyledButton, VisuallyHidden } from '@mantine/core'
import {
  IconActivity,
  IconApi,
  IconBook,
  IconChartBar,
  IconChevronUp,
  IconDatabaseExport,
  IconDevicesOff,
  IconExternalLink,
  IconInbox,
  IconKey,
  IconListCheck,
  IconListDetails,
  IconLock,
  IconLogout,
  IconMailForward,
  IconMoon,
  IconSearch,
  IconSend,
  IconServer,
  IconSettings,
  IconSpeakerphone,
  IconSun,
  IconUser,
  IconUsers,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link, NavLink } from 'react-router'
import { setPasswordDialog } from '../accounts/session/open-password.ts'
import { useMe } from '../accounts/session/session.api.ts'
import { sendingQuery } from '../accounts/settings/settings.api.ts'
import logo from '../logo.svg'
import { paths } from '../paths.ts'
import { openSearch } from '../search/open-search.ts'
import { apiReference, guides } from '../ui/api-reference.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { useTheme } from './color-scheme.ts'
import classes from './nav.module.css'
import { useSignOut, useSignOutEverywhere } from './sign-out.ts'

export type NavItem = { to: string; label: string; icon: ReactNode }

export const mainItems: NavItem[] = [
  { to: paths.overview, label: 'Overview', icon: <IconChartBar size={18} aria-hidden /> },
  { to: paths.flows, label: 'Flows', icon: <IconMailForward size={18} aria-hidden /> },
  { to: paths.broadcasts, label: 'Broadcasts', icon: <IconSpeakerphone size={18} aria-hidden /> },
  { to: paths.contacts, label: 'Contacts', icon: <IconUsers size={18} aria-hidden /> },
  { to: paths.messages, label: 'Messages', icon: <IconSend size={18} aria-hidden /> },
  { to: paths.activity, label: 'Activity', icon: <IconActivity size={18} aria-hidden /> },
]
export const inboxItem: NavItem = { to: paths.inbox, label: 'Inbox', icon: <IconInbox size={18} aria-hidden /> }
export const sendingItems: NavItem[] = [
  { to: paths.setup, label: 'Setup', icon: <IconListCheck size={18} aria-hidden /> },
  { to: paths.domains, label: 'Domains', icon: <IconWorld size={18} aria-hidden /> },
  { to: paths.mailServers, label: 'Mail servers', icon: <IconServer size={18} aria-hidden /> },
]
export const developerItems: NavItem[] = [
  { to: paths.webhooks, label: 'Webhooks', icon: <IconWebhook size={18} aria-hidden /> },
  { to: paths.eventExports, label: 'Exports', icon: <IconDatabaseExport size={18} aria-hidden /> },
  { to: paths.apiKeys, label: 'API keys', icon: <IconKey size={18} aria-hidden /> },
  { to: paths.apiRequests, label: 'API requests', icon: <IconListDetails size={18} aria-hidden /> },
]
const settingsItem: NavItem = {
  to: paths.settings,
  label: 'Settings',
  icon: <IconSettings size={18} aria-hidden />,
}

export function Brand() {
  return (
    <span className={classes.brand}>
      <img src={logo} alt="" width={30} height={30} />
      Waxwing
    </span>
  )
}

/** The inbox holds emails that were not sent, because no mail server was connected. */
const useHasInbox = () => {
  const mail = useMe().data?.mail
  return useQuery(sendingQuery).data?.transport === 'inbox' || mail?.account_emails === 'not_sent'
}

export function Nav({ onLeave }: { onLeave?: () => void }) {
  const hasInbox = useHasInbox()
  return (
    <div className={classes.column}>
      <UnstyledButton
        className={classes.search}
        onClick={() => {
          onLeave?.()
          openSearch()
        }}
      >
        <IconSearch size={16} aria-hidden /> Search
        <Kbd size="xs" ml="auto" aria-hidden className={classes.shortcut ?? ''}>
          Ctrl K
        </Kbd>
      </UnstyledButton>
      <nav aria-label="Main" className={classes.items}>
        {mainItems.map((item) => (
          <ItemLink key={item.to} item={item} onLeave={onLeave} />
        ))}
        {hasInbox && <ItemLink item={inboxItem} onLeave={onLeave} />}
        <div className={classes.heading}>Sending</div>
        {sendingItems.map((item) => (
          <ItemLink key={item.to} item={item} onLeave={onLeave} />
        ))}
        <div className={classes.heading}>Developers</div>
        {developerItems.map((item) => (
          <ItemLink key={item.to} item={item} onLeave={onLeave} />
        ))}
        <ExternalLink href={guides} icon={<IconBook size={18} aria-hidden />} label="Guides" />
        <ExternalLink href={apiReference} icon={<IconApi size={18} aria-hidden />} label="API reference" />
        <div className={classes.gap} />
        <ItemLink item={settingsItem} onLeave={onLeave} />
      </nav>
      <Account onLeave={onLeave} />
    </div>
  )
}

function ExternalLink({ href, icon, label }: { href: string; icon: ReactNode; label: string }) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className={classes.item}>
      {icon}
      {label}
      <IconExternalLink size={14} className={classes.external} role="img" aria-label="opens in a new tab" />
    </a>
  )
}

function ItemLink({ item, onLeave }: { item: NavItem; onLeave: (() => void) | undefined }) {
  return (
    <NavLink to={item.to} end={item.to === paths.overview} className={classes.item ?? ''} onClick={() => onLeave?.()}>
      {item.icon}
      {item.label}
    </NavLink>
  )
}

function Account({ onLeave }: { onLeave: (() => void) | undefined }) {
  const me = useMe()
  const { dark, toggle } = useTheme()
  const signOut = useSignOut()
  const signOutEverywhere = useSignOutEverywhere()
  const [leaving, setLeaving] = useState(false)
  return (
    <>
      <Menu position="top-start" width="target">
        <Menu.Target>
          <UnstyledButton className={classes.account}>
            <VisuallyHidden>Account</VisuallyHidden>
            <span className={classes.who}>
              <strong className="one-line">{me.data?.organization.name ?? '…'}</strong>
              <span className="one-line">{me.data?.user.email}</span>
            </span>
            <IconChevronUp size={16} aria-hidden />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={dark ? <IconSun size={16} aria-hidden /> : <IconMoon size={16} aria-hidden />}
            onClick={toggle}
          >
            {dark ? 'Light theme' : 'Dark theme'}
          </Menu.Item>
          <Menu.Item
            component={Link}
            to={paths.profile}
            leftSection={<IconUser size={16} aria-hidden />}
            onClick={() => onLeave?.()}
          >
            Profile
          </Menu.Item>
          <Menu.Item leftSection={<IconLock size={16} aria-hidden />} onClick={() => setPasswordDialog(true)}>
            Change password
          </Menu.Item>
          <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={signOut}>
            Sign out
          </Menu.Item>
          <Menu.Item leftSection={<IconDevicesOff size={16} aria-hidden />} onClick={() => setLeaving(true)}>
            Sign out everywhere
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm {...signOutEverywhere} opened={leaving} onClose={() => setLeaving(false)} />
    </>
  )
}
