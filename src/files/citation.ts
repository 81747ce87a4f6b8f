/** Citations of lines in a file, such as `notes/tea.md#L5-L9`, and who may see them. */

import type { CITATION_MODES } from '../domain/settings/setting-choices.ts'

export type Citation = {
  readonly path: string
  /** From 1, inclusive. */
  readonly lineFirst: number
  readonly lineLast: number
}

export function formatCitation({ path, lineFirst, lineLast }: Citation): string {
  return lineFirst === lineLast ? `${path}#L${lineFirst}` : `${path}#L${lineFirst}-L${lineLast}`
}

const LINES = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/

/** Null without a valid line range. */
export function parseCitation(text: string): Citation | null {
  const at = text.lastIndexOf('#')
  const [, first, last = first] = at < 1 ? [] : (LINES.exec(text.slice(at)) ?? [])
  const lineFirst = Number(first)
  const lineLast = Number(last)
  if (first === undefined || lineFirst < 1 || lineLast < lineFirst) return null
  return { path: text.slice(0, at), lineFirst, lineLast }
}

export type CitationMode = (typeof CITATION_MODES)[number]

/** Segments of a session key such as `agent:main:discord:channel:42` that mark a conversation with several readers. */
const SHARED_SEGMENTS = ['channel', 'group']

/** `auto` hides local paths from groups and channels. */
export function isCitationShown(mode: CitationMode, sessionKey: string | undefined): boolean {
  if (mode !== 'auto') return mode === 'on'
  const segments = (sessionKey ?? '').toLowerCase().split(':')
  return !segments.some((segment) => SHARED_SEGMENTS.includes(segment))
}
