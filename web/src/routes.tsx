import type { ComponentType } from 'react'
import { createBrowserRouter, Navigate, type RouteObject } from 'react-router'
import { basePath } from './api/base.ts'
import { paths } from './paths.ts'
import { BrokenPage, MissingPage, StartingPage } from './shell/odd-pages.tsx'
import { Shell } from './shell/shell.tsx'
import { noteUnloaded } from './shell/unloaded.ts'

// Every page is a script of its own, loaded when somebody goes there.
function page<Name extends string>(load: () => Promise<Record<Name, ComponentType>>, name: Name) {
  return { lazy: async () => ({ Component: (await load())[name] }) }
}

const settings: RouteObject[] = [
  { index: true, element: <Navigate to={paths.webhooks} replace /> },
  { path: 'webhooks', ...page(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage') },
  { path: 'api-keys', ...page(() => import('./settings/api-keys-page.tsx'), 'ApiKeysPage') },
  { path: 'suppressions', ...page(() => import('./settings/suppressions-page.tsx'), 'SuppressionsPage') },
  { path: 'sending', ...page(() => import('./settings/sending-page.tsx'), 'SendingPage') },
  { path: 'team', ...page(() => import('./settings/team-page.tsx'), 'TeamPage') },
  { path: 'organization', ...page(() => import('./settings/organization-page.tsx'), 'OrganizationPage') },
]

const places: RouteObject[] = [
  { index: true, ...page(() => import('./overview/overview-page.tsx'), 'OverviewPage') },
  { path: 'flows', ...page(() => import('./flows/flows-page.tsx'), 'FlowsPage') },
  { path: 'flows/new', ...page(() => import('./flows/new-flow-page.tsx'), 'NewFlowPage') },
  { path: 'flows/:id/:tab?', ...page(() => import('./flows/flow-page.tsx'), 'FlowPage') },
  { path: 'contacts', ...page(() => import('./contacts/contacts-page.tsx'), 'ContactsPage') },
  { path: 'contacts/groups', ...page(() => import('./contacts/groups-page.tsx'), 'GroupsPage') },
  { path: 'contacts/imports', ...page(() => import('./contacts/imports-page.tsx'), 'ImportsPage') },
  { path: 'contacts/imports/new', ...page(() => import('./contacts/new-import-page.tsx'), 'NewImportPage') },
  { path: 'contacts/imports/:id', ...page(() => import('./contacts/import-page.tsx'), 'ImportPage') },
  { path: 'contacts/:id', ...page(() => import('./contacts/contact-page.tsx'), 'ContactPage') },
  { path: 'messages', ...page(() => import('./messages/messages-page.tsx'), 'MessagesPage') },
  { path: 'messages/:id', ...page(() => import('./messages/message-page.tsx'), 'MessagePage') },
  { path: 'activity', ...page(() => import('./activity/activity-page.tsx'), 'ActivityPage') },
  { path: 'inbox/:id?', ...page(() => import('./inbox/inbox-page.tsx'), 'InboxPage') },
  { path: 'settings', ...page(() => import('./settings/settings-frame.tsx'), 'SettingsFrame'), children: settings },
  { path: 'settings/webhooks/:id', ...page(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage') },
  {
    path: 'settings/webhooks/:webhookId/deliveries/:id',
    ...page(() => import('./webhooks/delivery-page.tsx'), 'DeliveryPage'),
  },
  { path: '*', Component: MissingPage },
]

export function openRouter() {
  noteUnloaded()
  return createBrowserRouter(
    [
      {
        ErrorBoundary: BrokenPage,
        HydrateFallback: StartingPage,
        children: [
          { path: 'login', ...page(() => import('./session/login-page.tsx'), 'LoginPage') },
          { path: 'register', ...page(() => import('./session/register-page.tsx'), 'RegisterPage') },
          { path: 'invitation/:token', ...page(() => import('./session/invitation-page.tsx'), 'InvitationPage') },
          { path: '/', Component: Shell, children: [{ ErrorBoundary: BrokenPage, children: places }] },
        ],
      },
    ],
    { basename: basePath },
  )
}
