/** Detects the format of a file from its beginning; names say little, as half of them are `memories.json`. */

import { isObject, parseJson } from '../../lib/json.ts'
import { readText } from './foreign-record.ts'

export const IMPORT_FORMATS = [
  'recollect',
  'recollect-encrypted',
  'omniroute-json',
  'omniroute-sqlite',
  'osaurus-sqlite',
  'osaurus-settings',
  'openclaw-sqlite',
  'openclaw-lancedb',
  'openclaw-settings',
  'polyant',
  'polyant-postgres',
  'mem0',
  'server-memory',
  'chatgpt',
  'claude',
  'letta',
  'hindsight',
  'zep',
  'langmem',
  'markdown',
] as const

export type ImportFormat = (typeof IMPORT_FORMATS)[number]

/** How many bytes detection needs. */
export const DETECTION_BYTES = 65_536

export const EXPORT_FORMAT = 'recollect-export'

export const ENCRYPTED_FORMAT = 'recollect-encrypted'

const SQLITE_MAGIC = 'SQLite format 3\0'

/** Null for unknown formats. For SQLite files, `detectTableFormat` is more precise. */
export function detectFormat(file: Uint8Array | string, name = ''): ImportFormat | null {
  const start = file.slice(0, DETECTION_BYTES)
  if (isSqlite(start)) {
    const bytes = typeof start === 'string' ? start : decodeLatin1(start)
    return detectTableFormat([...bytes.matchAll(TABLE_DECLARATION)].map((match) => match[1] ?? ''))
  }
  const text = (
    typeof start === 'string' ? start : new TextDecoder().decode(start, { stream: true })
  ).replace(/^\ufeff/, '')
  const trimmed = text.trimStart()
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) {
    // A Markdown list may begin with a link or a checkbox.
    return (
      detectLineFormat(trimmed) ??
      detectJsonFormat(trimmed) ??
      (isMarkdown(text, '') ? 'markdown' : null)
    )
  }
  return isMarkdown(text, name) ? 'markdown' : null
}

export function isSqlite(start: Uint8Array | string): boolean {
  return (typeof start === 'string' ? start : decodeLatin1(start.subarray(0, 16))).startsWith(
    SQLITE_MAGIC,
  )
}

/** Detects the system from the tables of its database. */
export function detectTableFormat(tables: readonly string[]): ImportFormat | null {
  const has = (...names: readonly string[]) => names.every((name) => tables.includes(name))
  if (has('pinned_facts', 'episodes')) return 'osaurus-sqlite'
  if (has('chunks', 'files')) return 'openclaw-sqlite'
  return has('memories') || has('memory') ? 'omniroute-sqlite' : null
}

const TABLE_DECLARATION = /CREATE TABLE (?:IF NOT EXISTS )?["'`[]?(\w{1,64})/gi

/** JSON Lines formats are recognized by their first line. */
function detectLineFormat(text: string): ImportFormat | null {
  const line = parseJson(text.split('\n', 1)[0] ?? '')
  if (!isObject(line)) return null
  const word = (name: string) => (typeof line[name] === 'string' ? readText(line, name) : null)
  if (word('format') === EXPORT_FORMAT) return 'recollect'
  if (word('format') === ENCRYPTED_FORMAT) return 'recollect-encrypted'
  const isGraph =
    (word('type') === 'entity' && word('name') !== null) ||
    (word('type') === 'relation' && word('from') !== null)
  return isGraph ? 'server-memory' : null
}

/** Fields that are unique to a format. Quotes inside of text are escaped, so its words do not match. */
const SIGNATURES: readonly (readonly [RegExp, ImportFormat])[] = [
  [/(?<!\\)"mapping"\s*:\s*\{/, 'chatgpt'],
  [/(?<!\\)"chat_messages"\s*:\s*\[/, 'claude'],
  [/(?<!\\)"(?:memory|new_memory|old_memory)"\s*:\s*["n]/, 'mem0'],
  [
    /(?<!\\)"(?:memoryBudgetTokens|relevanceGateMode|summaryDebounceSeconds)"\s*:/,
    'osaurus-settings',
  ],
  [/(?<!\\)"(?:memorySearch|memory-lancedb)"\s*:\s*\{/, 'openclaw-settings'],
  [/(?<!\\)"instance(?:Id|_id)"\s*:/, 'polyant'],
  [/(?<!\\)"(?:core_memory|memory_blocks|block_ids)"\s*:\s*\[/, 'letta'],
  [/(?<!\\)"(?:source_node_uuid|target_node_uuid|thread_id|role_type)"\s*:/, 'zep'],
  [/(?<!\\)"(?:fact_type|mentioned_at)"\s*:/, 'hindsight'],
  [/(?<!\\)"namespace"\s*:\s*\[|"prefix"\s*:\s*"/, 'langmem'],
  [/(?<!\\)"entities"\s*:\s*\[\s*(?:\{|\])/, 'server-memory'],
  [/(?<!\\)"content"\s*:\s*"/, 'omniroute-json'],
]

/**
 * The first signature decides, because nested fields come after the fields of their item. `content` is a field of many
 * formats, so it decides only where no other signature matches.
 */
function detectJsonFormat(text: string): ImportFormat | null {
  const matches = SIGNATURES.map(([pattern, format]) => ({ format, at: text.search(pattern) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
  const specific = matches.find(({ format }) => format !== 'omniroute-json')
  const first = matches[0]
  if (first?.format === 'omniroute-json' && specific !== undefined) {
    return IN_ITEM_FORMATS.includes(specific.format) ? specific.format : first.format
  }
  return first?.format ?? null
}

/** Formats whose items have a `content` before the field that is unique to them. */
const IN_ITEM_FORMATS: readonly ImportFormat[] = ['polyant', 'zep', 'langmem', 'letta']

function isMarkdown(text: string, name: string): boolean {
  if (text.includes('\0')) return false
  return (
    /\.(?:md|markdown|mdown)$/i.test(name) || /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S/m.test(text)
  )
}

function decodeLatin1(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
