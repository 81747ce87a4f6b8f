/** The words of the domain, as the server knows them: shown as they are, because programs use them too. */
import type { Memory } from '../../api/client.ts'

export const TYPES: readonly Memory['type'][] = ['factual', 'episodic', 'procedural', 'semantic']
export const CATEGORIES: readonly Memory['category'][] = [
  'general',
  'preference',
  'fact',
  'event',
  'relationship',
  'decision',
  'entity',
  'pattern',
  'episode',
  'identity',
]
export const STATUSES: readonly Memory['status'][] = [
  'active',
  'disabled',
  'superseded',
  'forgotten',
]
export const TRUSTS: readonly Memory['trust'][] = ['user', 'assistant', 'import', 'tool', 'suspect']
export const SOURCES = [
  'gateway',
  'distillation',
  'api',
  'mcp',
  'cli',
  'library',
  'capture',
  'import',
  'summary',
  'demo',
] as const
