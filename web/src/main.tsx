import '@mantine/core/styles.css'
import './app.css'
import { type CSSVariablesResolver, MantineProvider } from '@mantine/core'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router/dom'
import { ApiError } from './api/api-error.ts'
import { openRouter } from './routes.tsx'
import { followOtherTabs, forgetBy } from './session/session.ts'
import { theme } from './theme.ts'
import { Toasts } from './ui/toast.tsx'

const retriesMax = 2

const isRejection = (error: Error) => error instanceof ApiError && error.status >= 400 && error.status < 500

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The library pauses requests while the browser is offline: pages would load without end, and an action would be
      // carried out after the person has cancelled it. With `always` a request fails at once instead.
      networkMode: 'always',
      refetchOnReconnect: true,
      // A rejected request would be rejected again; only faults that may pass are retried.
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

forgetBy(() => queries.clear())
followOtherTabs()
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root.')
// Every page renders its own title; the one of index.html is for the time before that.
document.querySelector('head > title')?.remove()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <MantineProvider theme={theme} defaultColorScheme="auto" cssVariablesResolver={cssVariables}>
        <Toasts />
        <RouterProvider router={openRouter()} />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
)
