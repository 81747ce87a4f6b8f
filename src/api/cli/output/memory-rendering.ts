/** Renders memories: lists, details and history. */
import type { z } from 'zod'
import type { memoryHistory } from '../../operations/memories/memory-operations.ts'
import type { WireMemory as Memory } from '../../operations/memory-schema.ts'
import type { searchMemories } from '../../operations/recall/search-operations.ts'
import { formatAge, formatTime } from '../input/time-format.ts'
import { toOptionNames } from './error-hints.ts'
import {
  escapeControlCharacters,
  formatCount,
  renderFields,
  renderTable,
  type Style,
  type TableCell,
  toTerminalLine,
  truncate,
} from './text-rendering.ts'

export type SearchOutput = z.output<(typeof searchMemories)['output']>
type Hit = SearchOutput['results'][number]
type Version = z.output<(typeof memoryHistory)['output']>['versions'][number]

export function renderMemoryList(style: Style, memories: readonly Memory[], now: number): string {
  return renderTable(
    style,
    ['ID', 'CREATED', 'MEMORY'],
    memories.map((memory) => [
      { text: memory.id },
      { text: formatAge(Date.parse(memory.createdAt), now), paint: style.dim },
      contentCell(style, memory, now),
    ]),
  )
}

export function renderSearchResults(style: Style, found: SearchOutput, now: number): string {
  if (found.results.length === 0) return nothingFound(found)
  const rows = found.results.map((hit) => [
    { text: hit.score.toFixed(2) },
    { text: hit.coverage === undefined ? '-' : `${Math.round(hit.coverage * 100)}%` },
    { text: hit.id },
    hitCell(style, hit, now),
  ])
  const isMemories = found.results.every(({ memory }) => memory !== undefined)
  const head = ['SCORE', 'COVERS', 'ID', isMemories ? 'MEMORY' : 'CONTENT']
  return [renderTable(style, head, rows), ...warnings(found)].join('\n')
}

function hitCell(style: Style, hit: Hit, now: number): TableCell {
  if (hit.memory !== undefined) return contentCell(style, hit.memory, now)
  return { text: hit.source === 'transcript' ? turnText(hit, now) : toTerminalLine(hit.snippet) }
}

/** Speaker, time, passage, then the session, because a narrow terminal cuts the end. */
function turnText({ role, speaker, createdAt, sessionId = '', snippet }: Hit, now: number): string {
  const who = toTerminalLine(speaker ?? role ?? 'user')
  const when = createdAt === undefined ? [] : [formatAge(Date.parse(createdAt), now)]
  const session = sessionId === '' ? '' : ` (session ${toTerminalLine(sessionId)})`
  return `[${[who, ...when].join(', ')}] ${toTerminalLine(snippet)}${session}`
}

/** Memories and turns with their ranking trail, and the report of each retriever. */
export function renderRankingTrails(style: Style, found: SearchOutput, now: number): string {
  const retrievers = Object.entries(found.retrievers).map(([name, { state, hits, reason }]) => {
    const why = toOptionNames(reason ?? '')
    return [name, reason === null ? `${hits} found` : `${state}: ${why}`] as const
  })
  const { timeExpression } = found
  const time = timeExpression === null ? [] : [['time', timeExpression] as const]
  const about = renderFields(style, [
    ['strategy', found.strategy],
    ...time,
    ...retrievers,
    ...nearestField(found),
  ])
  const entries = found.results.map((hit, index) =>
    [
      `${index + 1}. ${hitCell(style, hit, now).text}`,
      ...(hit.trail ?? []).map(({ stage, score, note }) =>
        style.dim(
          `   ${stage.padEnd(10)}${score.toFixed(3).padStart(8)}  ${toTerminalLine(note ?? '')}`.trimEnd(),
        ),
      ),
    ].join('\n'),
  )
  return [about, ...(entries.length === 0 ? [nothingFound(found)] : entries)].join('\n\n')
}

function nothingFound(found: SearchOutput): string {
  const words = found.abstained ? 'No matching memories.' : 'Nothing found.'
  return [words, ...warnings(found)].join('\n')
}

/** The nearest memory and its rank, which explains empty and long results. */
function nearestField({ topSimilarity }: SearchOutput): readonly (readonly [string, string])[] {
  return topSimilarity === null
    ? []
    : [
        [
          'nearest',
          `similarity ${topSimilarity.toFixed(2)} (see the settings recall.minTopSimilarity, recall.minSimilarity)`,
        ],
      ]
}

/** Failed retrievers and sources: results may be incomplete. */
function warnings({ retrievers, failedSources = [] }: SearchOutput): readonly string[] {
  const failed = [
    ...Object.entries(retrievers)
      .filter(([, { state }]) => state === 'failed')
      .map(([name, { reason }]) => `Retriever ${name} was skipped: ${toOptionNames(reason ?? '')}`),
    ...failedSources.map(
      ({ source, reason }) => `Source ${source} was skipped: ${toOptionNames(reason)}`,
    ),
  ]
  const missing = retrievers.vector.withoutVector ?? 0
  const lacking = formatCount(missing, 'memory or turn is', 'memories and turns are')
  return missing === 0
    ? failed
    : [
        ...failed,
        `${lacking} not embedded yet and found by keyword search only; run \`recollect reindex\`.`,
      ]
}

function contentCell(style: Style, memory: Memory, now: number): TableCell {
  const marks = marksOf(memory, now)
  const text = [...marks.map((mark) => `[${mark}]`), toTerminalLine(memory.content)].join(' ')
  return memory.status === 'active' ? { text } : { text, paint: style.dim }
}

const KEY_COLUMNS_MAX = 24

function marksOf(memory: Memory, now: number): readonly string[] {
  return [
    ...(memory.status === 'active' ? [] : [memory.status]),
    ...(hasEnded(memory, now) ? ['ended'] : []),
    ...(memory.pinned ? ['pinned'] : []),
    ...(memory.trust === 'suspect' ? ['suspect'] : []),
    ...(memory.conflictsWith === null ? [] : ['disputed']),
    // Extracted keys repeat the content.
    ...(memory.key === null || memory.provenance.extractor !== null
      ? []
      : [truncate(toTerminalLine(memory.key), KEY_COLUMNS_MAX)]),
  ]
}

function hasEnded({ expiresAt, validUntil }: Memory, now: number): boolean {
  return [expiresAt, validUntil].some((end) => end !== null && Date.parse(end) <= now)
}

/** The full content, then all attributes. */
export function renderMemory(style: Style, memory: Memory, now: number): string {
  const optional = (name: string, value: string | null): readonly (readonly [string, string])[] =>
    value === null || value === '' ? [] : [[name, value]]
  const time = (at: string | null) => (at === null ? null : localTime(at))
  const { user, sessionId, provenance } = memory
  const ended = hasEnded(memory, now) ? ', ended' : ''
  return [
    style.columns === null ? memory.content : escapeControlCharacters(memory.content),
    '',
    renderFields(style, [
      ['id', style.bold(memory.id)],
      ...optional('key', memory.key === null ? null : toTerminalLine(memory.key)),
      ['kind', `${memory.category}, ${memory.type}`],
      ['status', memory.status + ended + (memory.pinned ? ', pinned' : '')],
      ...optional('replaced by', memory.supersededBy),
      ...optional('disputes', memory.conflictsWith),
      ['importance', `${memory.importance} of 10`],
      ['trust', memory.trust],
      ['owner', toTerminalLine(memory.owner)],
      ...optional('user', user === null ? null : toTerminalLine(user)),
      ...optional('session', toTerminalLine(sessionId)),
      ['created', localTime(memory.createdAt)],
      ['changed', `${localTime(memory.updatedAt)}, version ${memory.version} by ${memory.change}`],
      ...optional('holds from', time(memory.validFrom)),
      ...optional('holds until', time(memory.validUntil)),
      ...optional('expires', time(memory.expiresAt)),
      ['said', formatCount(memory.sourceCount, 'time')],
      ['used', formatCount(memory.accessCount, 'time') + lastUse(memory)],
      ['source', [provenance.source, provenance.extractor].filter(Boolean).map(String).join(', ')],
      ...optional('entities', memory.entities.map(toTerminalLine).join(', ')),
      ...optional('language', memory.language),
      ...optional('metadata', metadataOf(memory)),
    ]),
  ].join('\n')
}

function lastUse({ lastAccessedAt }: Memory): string {
  return lastAccessedAt === null ? '' : `, last ${localTime(lastAccessedAt)}`
}

function localTime(iso: string): string {
  return formatTime(Date.parse(iso))
}

function metadataOf({ metadata }: Memory): string | null {
  return Object.keys(metadata).length === 0 ? null : toTerminalLine(JSON.stringify(metadata))
}

/** Omitted from histories, because they change with every version or by themselves. */
const HIDDEN_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'version',
  'change',
  'createdAt',
  'updatedAt',
  'accessCount',
  'lastAccessedAt',
  'salience',
  'owner',
  'apiKeyId',
  'user',
  'sessionId',
])

/** All versions with their changes, newest first. */
export function renderHistory(style: Style, entries: readonly Version[]): string {
  return entries
    .map(({ memory, replacedAt }, index) => {
      const before = entries[index + 1]?.memory
      const until = replacedAt === null ? style.green('in force') : style.dim('replaced')
      const head = `${style.bold(`Version ${memory.version}`)}  ${localTime(memory.updatedAt)}  ${memory.change}  ${until}`
      return [head, ...differences(style, before, memory)].join('\n')
    })
    .join('\n\n')
}

function differences(style: Style, before: Memory | undefined, after: Memory): readonly string[] {
  const then: { readonly [field: string]: unknown } = { ...before }
  const lines = Object.entries(after).flatMap(([field, value]) => {
    if (HIDDEN_FIELDS.has(field) || (before === undefined && field !== 'content')) return []
    const [old, young] = [valueText(field, then[field]), valueText(field, value)]
    if (before !== undefined && old === young) return []
    return [
      ...(before === undefined ? [] : [style.red(renderDiffLines('-', field, old))]),
      style.green(renderDiffLines('+', field, young)),
    ]
  })
  return lines.length > 0 ? lines : [style.dim('    nothing that is shown here')]
}

function renderDiffLines(side: '-' | '+', field: string, text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${side} ${field}: ${line}`)
    .join('\n')
}

const TIMES: ReadonlySet<string> = new Set(['validFrom', 'validUntil', 'expiresAt'])

function valueText(field: string, value: unknown): string {
  if (value === null || value === undefined) return '(none)'
  if (typeof value === 'string')
    return TIMES.has(field) ? localTime(value) : escapeControlCharacters(value)
  return escapeControlCharacters(JSON.stringify(value))
}
