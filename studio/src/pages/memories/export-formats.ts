/** Memories as JSON, Markdown or CSV, for people and spreadsheets. Only exports in JSON Lines can be imported again. */
import type { Memory } from '../../api/client.ts'

export const TEXT_FORMATS = ['json', 'markdown', 'csv'] as const
export type TextFormat = (typeof TEXT_FORMATS)[number]

export const FILE_ENDINGS: Record<TextFormat, string> = { json: 'json', markdown: 'md', csv: 'csv' }

export function renderMemories(memories: readonly Memory[], format: TextFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(memories, null, 2)}\n`
    case 'markdown':
      return renderMarkdown(memories)
    case 'csv':
      return renderCsv(memories)
  }
}

/** A list for each category. */
function renderMarkdown(memories: readonly Memory[]): string {
  const categories = [...new Set(memories.map(({ category }) => category))]
  const sections = categories.map((category) => {
    const lines = memories
      .filter((memory) => memory.category === category)
      .map(({ content, createdAt }) => `- ${content.replaceAll('\n', '\n  ')} (${day(createdAt)})`)
    return `## ${category}\n\n${lines.join('\n')}\n`
  })
  return `# Memories\n\n${sections.join('\n')}`
}

const COLUMNS = [
  ...(['id', 'content', 'key', 'category', 'type', 'status', 'trust', 'importance'] as const),
  ...(['pinned', 'user', 'sessionId', 'createdAt', 'updatedAt', 'expiresAt'] as const),
]

function renderCsv(memories: readonly Memory[]): string {
  const rows = memories.map((memory) => COLUMNS.map((name) => cell(memory[name])))
  return [COLUMNS, ...rows].map((row) => `${row.join(',')}\r\n`).join('')
}

function cell(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value)
  // Spreadsheets run cells that begin like this as formulas.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function day(at: string): string {
  return at.slice(0, 10)
}
