import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/client.ts'
import { router } from './app/router.tsx'
import { SessionGate } from './app/session.tsx'
import { applyTheme } from './app/theme.ts'
import { I18nProvider } from './i18n/i18n.tsx'
import { ToastProvider } from './ui/toast.tsx'
import { TooltipProvider } from './ui/tooltip.tsx'
import './styles/base.css'

const RETRIES_MAX = 2

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) =>
        count < RETRIES_MAX && (!(error instanceof ApiError) || error.isRetryable),
    },
  },
})

/** After an upgrade, the files of the old pages are gone. One reload gets the new ones; a second would not help. */
const RELOADED_KEY = 'recollect.reloaded-at'
const RELOAD_PAUSE_MS = 30_000
window.addEventListener('vite:preloadError', (event) => {
  const reloadedAt = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0)
  if (Date.now() - reloadedAt < RELOAD_PAUSE_MS) return
  sessionStorage.setItem(RELOADED_KEY, String(Date.now()))
  event.preventDefault()
  location.reload()
})

applyTheme()
// Loads the code of the page while the session is checked.
void router.preloadRoute({ to: location.pathname as '/studio/memories' }) // any path; unknown ones load nothing
const root = document.getElementById('studio')
if (root === null) throw new Error('The element #studio is missing.')
createRoot(root).render(
  <StrictMode>
    <I18nProvider>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider>
          <ToastProvider>
            <SessionGate>
              <RouterProvider router={router} />
            </SessionGate>
          </ToastProvider>
        </TooltipProvider>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
)
