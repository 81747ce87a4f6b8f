/** The pages of the Studio, in the order of the main navigation. */
import type { MessageKey } from '../i18n/catalog.ts'
import type { IconName } from '../ui/icon.tsx'
import type { Permission } from './session.tsx'

type PageName =
  | 'memories'
  | 'timeline'
  | 'map'
  | 'sessions'
  | 'files'
  | 'chat'
  | 'playground'
  | 'receipts'
  | 'review'
  | 'engine'
  | 'jobs'
  | 'settings'
  | 'access'
  | 'audit'

type NavigationItem = {
  readonly path: `/studio/${PageName}`
  readonly icon: IconName
  readonly name: MessageKey
  readonly needs: Permission
}

export const NAVIGATION: readonly (readonly NavigationItem[])[] = [
  [
    { path: '/studio/memories', icon: 'memories', name: 'shell.memories', needs: 'read' },
    { path: '/studio/timeline', icon: 'timeline', name: 'shell.timeline', needs: 'read' },
    { path: '/studio/map', icon: 'map', name: 'shell.map', needs: 'read' },
    { path: '/studio/sessions', icon: 'sessions', name: 'shell.sessions', needs: 'read' },
    { path: '/studio/files', icon: 'files', name: 'shell.files', needs: 'read' },
  ],
  [
    { path: '/studio/chat', icon: 'chat', name: 'shell.chat', needs: 'write' },
    { path: '/studio/playground', icon: 'playground', name: 'shell.playground', needs: 'read' },
    { path: '/studio/receipts', icon: 'receipts', name: 'shell.receipts', needs: 'read' },
    { path: '/studio/review', icon: 'review', name: 'shell.review', needs: 'read' },
  ],
  [
    { path: '/studio/engine', icon: 'engine', name: 'shell.engine', needs: 'manage' },
    { path: '/studio/jobs', icon: 'jobs', name: 'shell.jobs', needs: 'read' },
    { path: '/studio/settings', icon: 'settings', name: 'shell.settings', needs: 'read' },
    { path: '/studio/access', icon: 'access', name: 'shell.access', needs: 'manage' },
    { path: '/studio/audit', icon: 'audit', name: 'shell.audit', needs: 'manage' },
  ],
]
