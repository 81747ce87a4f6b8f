/** Whether places in files are named in answers. */
import type { CITATION_MODES } from '../domain/settings/setting-choices.ts'

export type CitationMode = (typeof CITATION_MODES)[number]

/** Parts of a session's key, as `agent:main:discord:channel:42`, that say that others read along. */
const SHARED_SEGMENTS = ['channel', 'group']

/** `auto`: paths on somebody's disk are nothing for groups and channels. */
export function isCitationShown(mode: CitationMode, sessionKey: string | undefined): boolean {
  if (mode !== 'auto') return mode === 'on'
  const segments = (sessionKey ?? '').toLowerCase().split(':')
  return !segments.some((segment) => SHARED_SEGMENTS.includes(segment))
}
