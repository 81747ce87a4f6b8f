/** The note of a session: its digest and the memories learned in it, or its last messages. */
import { redactSensitiveText } from '../../text/redaction.ts'

export type SessionDigest = {
  readonly session: string
  readonly summary: string
  readonly decisions: readonly string[]
  readonly actionItems: readonly string[]
  readonly facts: readonly string[]
}

/** Deterministic, so that an existing note is recognized. */
export function renderSessionNote(digest: SessionDigest): string {
  const { session, summary, decisions, actionItems, facts } = digest
  const parts = [
    `## Session ${toSingleLine(session)}`,
    toSingleLine(summary),
    renderList('Decided', decisions),
    renderList('To do', actionItems),
    renderList('Learned', facts),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function renderList(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  return [`### ${title}`, '', ...lines.map((line) => `- ${toSingleLine(line)}`)].join('\n')
}

export type SpokenMessage = { readonly role: string; readonly content: string }

/** The last messages of a session as a note. Commands to the client, such as `/new`, are omitted. */
export function renderSessionMessages(
  session: string,
  messages: readonly SpokenMessage[],
  limit: number,
): string {
  const spoken = messages.filter(
    ({ role, content }) => (role === 'user' || role === 'assistant') && !COMMAND.test(content),
  )
  const lines = spoken
    .slice(-limit)
    .map(
      ({ role, content }) => `- ${role}: ${toSingleLine(redactSensitiveText(content, REDACTION))}`,
    )
  return lines.length === 0 ? '' : [`# Session ${toSingleLine(session)}`, ...lines].join('\n\n')
}

const REDACTION = { emailAddresses: false }
const COMMAND = /^\s*\/[a-z][\w-]*(?:\s|$)/i

const SLUG_WORDS_MAX = 5
const SLUG_CHARACTERS_MAX = 60

/** The part of a file name that says what a text is about; empty when no letters or digits are left. */
export function toSlug(text: string): string {
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const slug = words.slice(0, SLUG_WORDS_MAX).join('-')
  return [...slug].slice(0, SLUG_CHARACTERS_MAX).join('').replace(/-$/, '')
}

/** Keeps text from becoming Markdown structure. */
function toSingleLine(text: string): string {
  return text.trim().replace(/\s+/gu, ' ')
}
