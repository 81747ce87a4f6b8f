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
/** In an address: whatever the status is. Without a word of it, only what is in use is shown. */
export const ANY_STATUS = 'any'
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

/** Keys that the server makes for digests say nothing to people. */
export function isGeneratedKey(key: string): boolean {
  return /:[0-9a-f]{16,}$/.test(key)
}
