import type { SpotlightActionData } from '@mantine/spotlight'
import {
  IconApi,
  IconBan,
  IconBook,
  IconBuilding,
  IconChartBar,
  IconClock,
  IconFilter,
  IconKey,
  IconListCheck,
  IconLock,
  IconLogout,
  IconMailbox,
  IconMailForward,
  IconMailPlus,
  IconMoon,
  IconPalette,
  IconPhoto,
  IconPuzzle,
  IconSpeakerphone,
  IconSun,
  IconTableImport,
  IconTemplate,
  IconUpload,
  IconUser,
  IconUserPlus,
  IconUsers,
  IconUsersGroup,
  IconWebhook,
  IconWorld,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { setPasswordDialog } from '../accounts/session/open-password.ts'
import { paths } from '../paths.ts'
import { useTheme } from '../shell/color-scheme.ts'
import { developerItems, inboxItem, mainItems } from '../shell/nav.tsx'
import { useSignOut } from '../shell/sign-out.ts'
import { apiReference, guides } from '../ui/api-reference.tsx'
import { createRequest } from '../ui/create-request.ts'

const size = { size: 18, 'aria-hidden': true } as const

type Command = { label: string; icon: ReactNode; run: () => void; keywords?: string }

/** The pages and actions of the app whose name matches the text; all of them for an empty text. */
export function useCommands(text: string): { pages: SpotlightActionData[]; actions: SpotlightActionData[] } {
  const navigate = useNavigate()
  const theme = useTheme()
  const signOut = useSignOut()
  const go = (to: string) => () => void navigate(to)
  const create = (on: string) => () => void navigate(on, { state: createRequest })
  const pages: Command[] = [
    ...[...mainItems, inboxItem, ...developerItems].map(({ to, label, icon }) => ({ label, icon, run: go(to) })),
    { label: 'Images', icon: <IconPhoto {...size} />, run: go(paths.images), keywords: 'pictures gallery upload' },
    {
      label: 'Parts',
      icon: <IconPuzzle {...size} />,
      run: go(paths.flowParts),
      keywords: 'reusable header footer block',
    },
    { label: 'Groups', icon: <IconUsersGroup {...size} />, run: go(paths.groups) },
    { label: 'Segments', icon: <IconFilter {...size} />, run: go(paths.segments), keywords: 'filter audience' },
    { label: 'Imports', icon: <IconTableImport {...size} />, run: go(paths.imports) },
    {
      label: 'Suppressions',
      icon: <IconBan {...size} />,
      run: go(paths.suppressions),
      keywords: 'unsubscribed bounced',
    },
    { label: 'Organization settings', icon: <IconBuilding {...size} />, run: go(paths.organization) },
    {
      label: 'Brand',
      icon: <IconPalette {...size} />,
      run: go(paths.brand),
      keywords: 'logo color colour font address settings',
    },
    { label: 'Team', icon: <IconUsers {...size} />, run: go(paths.team), keywords: 'members users settings' },
    {
      label: 'Profile',
      icon: <IconUser {...size} />,
      run: go(paths.profile),
      keywords: 'account name email sessions alerts notifications settings',
    },
    {
      label: 'Domains',
      icon: <IconWorld {...size} />,
      run: go(paths.domains),
      keywords: 'sending dns spf dkim dmarc records verify warm-up sender',
    },
    {
      label: 'Mail servers',
      icon: <IconMailForward {...size} />,
      run: go(paths.mailServers),
      keywords: 'sending smtp provider',
    },
    {
      label: 'Limits per mailbox provider',
      icon: <IconMailbox {...size} />,
      run: go(paths.receivingSites),
      keywords: 'receiving sites rates shaping gmail outlook yahoo sending',
    },
    {
      label: 'Setup',
      icon: <IconListCheck {...size} />,
      run: go(paths.setup),
      keywords: 'sending first real email start smtp dns dkim bounces status default sender public address base url',
    },
    {
      label: 'Compare broadcasts',
      icon: <IconChartBar {...size} />,
      run: go(paths.compareBroadcasts),
      keywords: 'results comparison',
    },
    { label: 'Starters', icon: <IconTemplate {...size} />, run: go(paths.starters), keywords: 'templates new flow' },
    {
      label: 'Time zone',
      icon: <IconClock {...size} />,
      run: go(paths.organization),
      keywords: 'timezone organization settings',
    },
  ]
  const actions: Command[] = [
    {
      label: 'Create flow',
      icon: <IconMailPlus {...size} />,
      run: go(paths.starters),
      keywords: 'new template starter',
    },
    {
      label: 'Create broadcast',
      icon: <IconSpeakerphone {...size} />,
      run: create(paths.broadcasts),
      keywords: 'new campaign newsletter',
    },
    { label: 'Add contact', icon: <IconUserPlus {...size} />, run: create(paths.contacts), keywords: 'new create' },
    { label: 'Create segment', icon: <IconFilter {...size} />, run: go(paths.newSegment), keywords: 'new filter' },
    { label: 'Import contacts', icon: <IconUpload {...size} />, run: go(paths.newImport), keywords: 'csv upload' },
    { label: 'Add webhook', icon: <IconWebhook {...size} />, run: create(paths.webhooks), keywords: 'create endpoint' },
    { label: 'Create API key', icon: <IconKey {...size} />, run: go(paths.apiKeys), keywords: 'new token' },
    { label: 'Invite member', icon: <IconUserPlus {...size} />, run: go(paths.team), keywords: 'add colleague user' },
    {
      label: theme.dark ? 'Switch to light theme' : 'Switch to dark theme',
      icon: theme.dark ? <IconSun {...size} /> : <IconMoon {...size} />,
      run: theme.toggle,
      keywords: 'appearance mode',
    },
    { label: 'Change password', icon: <IconLock {...size} />, run: () => setPasswordDialog(true) },
    {
      label: 'Open guides',
      icon: <IconBook {...size} />,
      run: () => void window.open(guides, '_blank', 'noreferrer'),
      keywords: 'docs documentation help',
    },
    {
      label: 'Open API reference',
      icon: <IconApi {...size} />,
      run: () => void window.open(apiReference, '_blank', 'noreferrer'),
      keywords: 'docs documentation',
    },
    { label: 'Sign out', icon: <IconLogout {...size} />, run: signOut, keywords: 'log out' },
  ]
  const matching = (commands: Command[]) =>
    commands
      .filter(({ label, keywords = '' }) => `${label} ${keywords}`.toLowerCase().includes(text.toLowerCase()))
      .map(toAction)
  return { pages: matching(pages), actions: matching(actions) }
}

const toAction = ({ label, icon, run }: Command): SpotlightActionData => ({
  id: label,
  label,
  leftSection: icon,
  onClick: run,
})
