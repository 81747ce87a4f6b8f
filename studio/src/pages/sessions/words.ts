import type { MessageKey } from '../../i18n/catalogue.ts'
import type { Turn } from './queries.ts'

export const ROLES: Readonly<Record<Turn['role'], MessageKey>> = {
  user: 'sessions.roleUser',
  assistant: 'sessions.roleAssistant',
  system: 'sessions.roleSystem',
  tool: 'sessions.roleTool',
}
