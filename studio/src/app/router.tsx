/** The routes. The owner parameter is retained across pages, so that links show the same data. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router'
import { ErrorState, LoadingState } from '../ui/layout.tsx'
import { Shell } from './shell.tsx'

type OwnerSearch = { readonly owner?: string }

const rootRoute = createRootRoute({
  component: Shell,
  validateSearch: (search): OwnerSearch =>
    typeof search.owner === 'string' && search.owner !== '' ? { owner: search.owner } : {},
  search: { middlewares: [retainSearchParams(['owner'])] },
})

/** Any search parameter is accepted; pages read those they know. */
type PageSearch = { readonly [name: string]: string | number | boolean | undefined }
const anySearch = (search: Record<string, unknown>): PageSearch =>
  Object.fromEntries(
    Object.entries(search).filter(([, value]) =>
      ['string', 'number', 'boolean'].includes(typeof value),
    ),
  ) as PageSearch // the filter above leaves only such values

const page = <Path extends string>(
  path: Path,
  load: Parameters<typeof lazyRouteComponent>[0],
  name: string,
) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    validateSearch: anySearch,
    component: lazyRouteComponent(load, name as never), // pages export their component under this name
  })

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/studio/memories' })
  },
})

const routes = [
  home,
  page('/studio/memories', () => import('../pages/memories/page.tsx'), 'MemoriesPage'),
  page('/studio/all-owners', () => import('../pages/all-owners/page.tsx'), 'AllOwnersPage'),
  page('/studio/chat', () => import('../pages/chat/page.tsx'), 'ChatPage'),
  page('/studio/playground', () => import('../pages/playground/page.tsx'), 'PlaygroundPage'),
  page('/studio/timeline', () => import('../pages/timeline/page.tsx'), 'TimelinePage'),
  page('/studio/map', () => import('../pages/map/page.tsx'), 'MapPage'),
  page('/studio/sessions', () => import('../pages/sessions/page.tsx'), 'SessionsPage'),
  page('/studio/review', () => import('../pages/review/page.tsx'), 'ReviewPage'),
  page('/studio/files', () => import('../pages/files/page.tsx'), 'FilesPage'),
  page('/studio/receipts', () => import('../pages/receipts/page.tsx'), 'ReceiptsPage'),
  page('/studio/engine', () => import('../pages/engine/page.tsx'), 'EnginePage'),
  page('/studio/settings', () => import('../pages/settings/page.tsx'), 'SettingsPage'),
  page('/studio/access', () => import('../pages/access/page.tsx'), 'AccessPage'),
  page('/studio/jobs', () => import('../pages/jobs/page.tsx'), 'JobsPage'),
  page('/studio/audit', () => import('../pages/audit/page.tsx'), 'AuditPage'),
] as const

export const router = createRouter({
  routeTree: rootRoute.addChildren(routes),
  defaultPreload: 'intent',
  defaultPendingComponent: LoadingState,
  defaultErrorComponent: ({ error, reset }) => <ErrorState error={error} onRetry={reset} />,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
