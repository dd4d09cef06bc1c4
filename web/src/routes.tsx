import type { ComponentType } from 'react'
import { createBrowserRouter, Navigate, type RouteObject, useLocation } from 'react-router'
import { basePath } from './api/base.ts'
import { paths } from './paths.ts'
import { trackLoadErrors } from './shell/load-errors.ts'
import { Shell } from './shell/shell.tsx'
import { ErrorPage, LoadingPage, NotFoundPage } from './shell/status-pages.tsx'

// Every page is a separate script, loaded on the first visit.
function page<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  return { lazy: async () => ({ Component: (await load())[name] }) }
}

const settings: RouteObject[] = [
  { index: true, element: <Navigate to={paths.organization} replace /> },
  { path: 'brand', ...page(() => import('./content/brand/brand-page.tsx'), 'BrandPage') },
  { path: 'team', ...page(() => import('./accounts/settings/team-page.tsx'), 'TeamPage') },
  { path: 'profile', ...page(() => import('./accounts/settings/profile-page.tsx'), 'ProfilePage') },
  { path: 'organization', ...page(() => import('./accounts/settings/organization-page.tsx'), 'OrganizationPage') },
]

const sending: RouteObject[] = [
  { index: true, element: <Navigate to={paths.setup} replace /> },
  { path: 'setup', ...page(() => import('./delivery/setup/setup-page.tsx'), 'SetupPage') },
  { path: 'domains', ...page(() => import('./delivery/domains/domains-page.tsx'), 'DomainsPage') },
  { path: 'mail-servers', ...page(() => import('./delivery/mail-servers/mail-servers-page.tsx'), 'MailServersPage') },
]

const developers: RouteObject[] = [
  { index: true, element: <Navigate to={paths.webhooks} replace /> },
  { path: 'webhooks', ...page(() => import('./events/webhooks/webhooks-page.tsx'), 'WebhooksPage') },
  { path: 'exports', ...page(() => import('./events/event-exports/event-exports-page.tsx'), 'EventExportsPage') },
  { path: 'api-keys', ...page(() => import('./accounts/settings/api-keys-page.tsx'), 'ApiKeysPage') },
  { path: 'api-requests', ...page(() => import('./accounts/api-requests/api-requests-page.tsx'), 'ApiRequestsPage') },
]

/** Pages that moved: old bookmarks, and the links in emails that were sent before, still work. */
const moved: RouteObject[] = [
  { path: 'settings/webhooks/*', element: <Moved from="/settings/webhooks" to={paths.webhooks} /> },
  { path: 'settings/api-keys', element: <Moved from="/settings/api-keys" to={paths.apiKeys} /> },
  { path: 'settings/suppressions', element: <Moved from="/settings/suppressions" to={paths.suppressions} /> },
  { path: 'settings/sending/*', element: <Navigate to={paths.setup} replace /> },
  { path: 'settings/domains/*', element: <Moved from="/settings/domains" to={paths.domains} /> },
  { path: 'settings/mail-servers/receiving-sites', element: <Navigate to={paths.receivingSites} replace /> },
  { path: 'settings/mail-servers/*', element: <Moved from="/settings/mail-servers" to={paths.mailServers} /> },
]

function Moved({ from, to }: { from: string; to: string }) {
  const { pathname, search, hash } = useLocation()
  return <Navigate to={`${to}${pathname.slice(from.length)}${search}${hash}`} replace />
}

const appRoutes: RouteObject[] = [
  { index: true, ...page(() => import('./engagement/overview/overview-page.tsx'), 'OverviewPage') },
  { path: 'flows', ...page(() => import('./content/flows/flows-page.tsx'), 'FlowsPage') },
  { path: 'flows/new', ...page(() => import('./content/flows/new-flow-page.tsx'), 'NewFlowPage') },
  { path: 'flows/starters', ...page(() => import('./content/flows/starters-page.tsx'), 'StartersPage') },
  { path: 'flows/parts', ...page(() => import('./content/flow-parts/flow-parts-page.tsx'), 'FlowPartsPage') },
  { path: 'flows/images', ...page(() => import('./content/images/images-page.tsx'), 'ImagesPage') },
  { path: 'flows/:id/:tab?', ...page(() => import('./content/flows/flow-page.tsx'), 'FlowPage') },
  { path: 'broadcasts', ...page(() => import('./broadcasts/broadcasts-page.tsx'), 'BroadcastsPage') },
  { path: 'broadcasts/compare', ...page(() => import('./broadcasts/compare-page.tsx'), 'ComparePage') },
  { path: 'broadcasts/:id', ...page(() => import('./broadcasts/broadcast-page.tsx'), 'BroadcastPage') },
  { path: 'contacts', ...page(() => import('./audience/contacts/contacts-page.tsx'), 'ContactsPage') },
  { path: 'contacts/groups', ...page(() => import('./audience/contacts/groups-page.tsx'), 'GroupsPage') },
  { path: 'contacts/segments', ...page(() => import('./audience/segments/segments-page.tsx'), 'SegmentsPage') },
  {
    path: 'contacts/segments/new',
    ...page(() => import('./audience/segments/new-segment-page.tsx'), 'NewSegmentPage'),
  },
  { path: 'contacts/segments/:id', ...page(() => import('./audience/segments/segment-page.tsx'), 'SegmentPage') },
  { path: 'contacts/imports', ...page(() => import('./audience/contacts/imports-page.tsx'), 'ImportsPage') },
  { path: 'contacts/imports/new', ...page(() => import('./audience/contacts/new-import-page.tsx'), 'NewImportPage') },
  { path: 'contacts/imports/:id', ...page(() => import('./audience/contacts/import-page.tsx'), 'ImportPage') },
  {
    path: 'contacts/suppressions',
    ...page(() => import('./audience/suppressions/suppressions-page.tsx'), 'SuppressionsPage'),
  },
  { path: 'contacts/:id', ...page(() => import('./audience/contacts/contact-page.tsx'), 'ContactPage') },
  { path: 'messages', ...page(() => import('./sending/messages/messages-page.tsx'), 'MessagesPage') },
  { path: 'messages/:id', ...page(() => import('./sending/messages/message-page.tsx'), 'MessagePage') },
  { path: 'activity', ...page(() => import('./events/activity/activity-page.tsx'), 'ActivityPage') },
  { path: 'inbox/:id?', ...page(() => import('./sending/inbox/inbox-page.tsx'), 'InboxPage') },
  {
    path: 'settings',
    ...page(() => import('./accounts/settings/settings-frame.tsx'), 'SettingsFrame'),
    children: settings,
  },
  { path: 'sending', ...page(() => import('./shell/item-frames.tsx'), 'SendingFrame'), children: sending },
  { path: 'sending/domains/:id', ...page(() => import('./delivery/domains/domain-page.tsx'), 'DomainPage') },
  {
    path: 'sending/mail-servers/limits',
    ...page(() => import('./delivery/receiving-sites/receiving-sites-page.tsx'), 'ReceivingSitesPage'),
  },
  {
    path: 'sending/mail-servers/:id',
    ...page(() => import('./delivery/mail-servers/mail-server-page.tsx'), 'MailServerPage'),
  },
  { path: 'developers', ...page(() => import('./shell/item-frames.tsx'), 'DevelopersFrame'), children: developers },
  { path: 'developers/webhooks/:id', ...page(() => import('./events/webhooks/webhook-page.tsx'), 'WebhookPage') },
  {
    path: 'developers/webhooks/:webhookId/deliveries/:id',
    ...page(() => import('./events/webhooks/delivery-page.tsx'), 'DeliveryPage'),
  },
  {
    path: 'developers/exports/:id',
    ...page(() => import('./events/event-exports/event-export-page.tsx'), 'EventExportPage'),
  },
  {
    path: 'developers/api-requests/:id',
    ...page(() => import('./accounts/api-requests/api-request-page.tsx'), 'ApiRequestPage'),
  },
  ...moved,
  { path: '*', Component: NotFoundPage },
]

export function createRouter() {
  trackLoadErrors()
  return createBrowserRouter(
    [
      {
        ErrorBoundary: ErrorPage,
        HydrateFallback: LoadingPage,
        children: [
          { path: 'login', ...page(() => import('./accounts/session/login-page.tsx'), 'LoginPage') },
          { path: 'register', ...page(() => import('./accounts/session/register-page.tsx'), 'RegisterPage') },
          {
            path: 'forgot-password',
            ...page(() => import('./accounts/session/forgot-password-page.tsx'), 'ForgotPasswordPage'),
          },
          {
            path: 'reset-password',
            ...page(() => import('./accounts/session/reset-password-page.tsx'), 'ResetPasswordPage'),
          },
          {
            path: 'confirm-email',
            ...page(() => import('./accounts/session/confirm-email-page.tsx'), 'ConfirmEmailPage'),
          },
          {
            path: 'invitation/:token',
            ...page(() => import('./accounts/session/invitation-page.tsx'), 'InvitationPage'),
          },
          { path: '/', Component: Shell, children: [{ ErrorBoundary: ErrorPage, children: appRoutes }] },
        ],
      },
    ],
    { basename: basePath },
  )
}
