/** What a note says of a session: its digest, and what was learned in it. */

export type SessionDigest = {
  readonly session: string
  readonly summary: string
  readonly decisions: readonly string[]
  readonly actionItems: readonly string[]
  readonly facts: readonly string[]
}

/** The same session always gives the same text, so that it can be known again. */
export function sessionNote(digest: SessionDigest): string {
  const { session, summary, decisions, actionItems, facts } = digest
  const parts = [
    `## Session ${oneLine(session)}`,
    oneLine(summary),
    listOf('Decided', decisions),
    listOf('To do', actionItems),
    listOf('Learned', facts),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

function listOf(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  return [`### ${title}`, '', ...lines.map((line) => `- ${oneLine(line)}`)].join('\n')
}

/** What was said must not become a heading or a list of its own. */
function oneLine(text: string): string {
  return text.trim().replace(/\s+/gu, ' ')
}
