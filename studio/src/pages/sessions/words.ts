import type { MessageKey } from '../../i18n/catalog.ts'
import type { Turn } from './queries.ts'

export const ROLES: Readonly<Record<Turn['role'], MessageKey>> = {
  user: 'sessions.roleUser',
  assistant: 'sessions.roleAssistant',
  system: 'sessions.roleSystem',
  tool: 'sessions.roleTool',
}
