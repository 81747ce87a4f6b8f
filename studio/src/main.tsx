import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './app/queries.ts'
import { router } from './app/router.tsx'
import { SessionGate } from './app/session.tsx'
import { applyTheme } from './app/theme.ts'
import { I18nProvider } from './i18n/i18n.tsx'
import { ToastProvider } from './ui/toast.tsx'
import { TooltipProvider } from './ui/tooltip.tsx'
import './styles/base.css'

applyTheme()
// The page comes while the server is asked who this is, and not only after that.
void router.preloadRoute({ to: location.pathname as '/studio/memories' }) // any address; one that is none loads nothing
const place = document.getElementById('studio')
if (place === null) throw new Error('The page has no place for the Studio.')
createRoot(place).render(
  <StrictMode>
    <I18nProvider>
      <QueryClientProvider client={queries}>
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
