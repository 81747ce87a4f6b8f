/** Names of the values of enumerated fields, in the language of the reader. */
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'

const NAMES: Readonly<Record<string, MessageKey>> = {
  general: 'values.general',
  preference: 'values.preference',
  fact: 'values.fact',
  event: 'values.event',
  relationship: 'values.relationship',
  decision: 'values.decision',
  entity: 'values.entity',
  pattern: 'values.pattern',
  episode: 'values.episode',
  identity: 'values.identity',
  factual: 'values.factual',
  episodic: 'values.episodic',
  procedural: 'values.procedural',
  semantic: 'values.semantic',
  active: 'values.active',
  disabled: 'values.disabled',
  superseded: 'values.superseded',
  forgotten: 'values.forgotten',
  user: 'values.user',
  assistant: 'values.assistant',
  import: 'values.import',
  tool: 'values.tool',
  suspect: 'values.suspect',
  gateway: 'values.gateway',
  distillation: 'values.distillation',
  library: 'values.library',
  capture: 'values.capture',
  summary: 'values.summary',
  demo: 'values.demo',
}

/** Returns a function from a category, type, status, trust or source to its name; other values are their own names. */
export function useValueName(): (value: string) => string {
  const { t } = useI18n()
  return (value) => {
    const key = NAMES[value]
    return key === undefined ? value : t(key)
  }
}
