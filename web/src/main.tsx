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

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A no will be a no again; only what may pass is asked again.
      retry: (failures, error) =>
        failures < retriesMax && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
})

const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-error': 'var(--mantine-color-wax-6)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
  },
  dark: {
    '--mantine-color-error': 'var(--mantine-color-wax-3)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
  },
})

forgetBy(() => queries.clear())
followOtherTabs()
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root.')
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
