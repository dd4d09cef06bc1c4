import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app.css'
import { type CSSVariablesResolver, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router/dom'
import { followOtherTabs, onAccountChange } from './accounts/session/session.ts'
import { ApiError } from './api/api-error.ts'
import { createRouter } from './routes.tsx'
import { recoverFromOutages } from './shell/recovery.ts'
import { theme } from './theme.ts'

const retriesMax = 2
const toastMs = 6_000

const isRejection = (error: Error) => error instanceof ApiError && error.status >= 400 && error.status < 500

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // By default the library pauses requests while the browser is offline: pages would load forever, and an action would
      // run after the user has cancelled it. With `always` requests fail immediately.
      networkMode: 'always',
      refetchOnReconnect: true,
      // Only temporary failures are retried.
      retry: (failures, error) => failures < retriesMax && navigator.onLine && !isRejection(error),
    },
    mutations: { networkMode: 'always' },
  },
})

const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-error': 'var(--mantine-color-red-6)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
  },
  dark: {
    '--mantine-color-error': 'var(--mantine-color-red-3)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
  },
})

onAccountChange(() => queries.clear())
recoverFromOutages(queries)
followOtherTabs()
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root.')
// Every page renders its own title, which replaces the one of index.html.
document.querySelector('head > title')?.remove()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <MantineProvider theme={theme} defaultColorScheme="auto" cssVariablesResolver={cssVariables}>
        <Notifications position="bottom-center" autoClose={toastMs} zIndex={350} />
        <RouterProvider router={createRouter()} />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
)
