/** The note of a session: its digest and the memories learned in it. */

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

/** Keeps text from becoming Markdown structure. */
function toSingleLine(text: string): string {
  return text.trim().replace(/\s+/gu, ' ')
}
