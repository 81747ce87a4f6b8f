/** Reads the public data sets in their common format; see their README. */
import { createReadStream, existsSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'

export type EvalDocument = {
  /** Unique in the whole set. */
  readonly id: string
  readonly group: string
  readonly session: string | null
  readonly ts: string | null
  readonly speaker: string | null
  readonly text: string
  readonly caption: string | null
}

export type EvalQuery = {
  readonly id: string
  readonly group: string
  readonly question: string
  readonly category: string
  /** The ids of the evidence documents; empty if the set names none. */
  readonly gold: readonly string[]
  /** The evidence sessions, if the set names them. */
  readonly goldSessions: readonly string[]
  /** The time of the question, if that matters. */
  readonly askedAt: string | null
  /** Whether the set marks the question as unanswerable. */
  readonly isUnanswerable: boolean
}

/** Whether the set names the evidence. */
export function hasGold({ gold, goldSessions }: EvalQuery): boolean {
  return gold.length > 0 || goldSessions.length > 0
}

export type EvalSet = {
  readonly documents: readonly EvalDocument[]
  readonly queries: readonly EvalQuery[]
}

/** The category of unanswerable questions, in sets that mark them by category. */
const UNANSWERABLE: ReadonlyMap<string, string> = new Map([
  ['locomo', '5'],
  ['beam-100k', 'abstention'],
])

export async function loadSet(folder: string, set: string): Promise<EvalSet> {
  const documents: EvalDocument[] = []
  for await (const row of rows(fileOf(folder, set, 'docs'))) {
    const group = groupOf(row)
    documents.push({
      id: idIn(group, text(row, 'id')),
      group,
      session: optionalText(row, 'session'),
      ts: optionalText(row, 'ts'),
      speaker: optionalText(row, 'speaker'),
      text: optionalText(row, 'text') ?? '',
      caption: optionalText(row, 'caption'),
    })
  }
  const queries: EvalQuery[] = []
  for await (const row of rows(fileOf(folder, set, 'queries'))) {
    const group = groupOf(row)
    const category = String(row.get('category') ?? '')
    queries.push({
      id: optionalText(row, 'id') ?? '',
      group,
      question: optionalText(row, 'question') ?? '',
      category,
      gold: texts(row, 'gold').map((id) => idIn(group, id)),
      goldSessions: texts(row, 'gold_sessions'),
      askedAt: optionalText(row, 'question_date'),
      isUnanswerable: row.get('abstention') === true || UNANSWERABLE.get(set) === category,
    })
  }
  return { documents, queries }
}

/** Whether a set of this name exists. */
export function hasSet(folder: string, set: string): boolean {
  return (
    set !== '' &&
    (['docs', 'queries'] as const).every((part) => existsSync(fileOf(folder, set, part)))
  )
}

function fileOf(folder: string, set: string, part: 'docs' | 'queries'): string {
  return join(folder, set, `${part}.jsonl.gz`)
}

/** The group of documents without a group. */
function groupOf(row: Row): string {
  return optionalText(row, 'group') ?? 'all'
}

function idIn(group: string, id: string): string {
  return `${group} ${id}`
}

/**
 * The sets write times in four ways: `1:56 pm on 8 May, 2023`, `2023/05/20 (Sat) 09:49`, `March-15-2024`, and ISO, with a
 * time of day or without. Null for anything else.
 */
export function parseTime(text: string): number | null {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return isoTime(text)
  const clock = /(\d{1,2}):(\d\d)\s*([ap]m)?/i.exec(text)
  const hour = Number(clock?.[1] ?? 0) % (clock?.[3] === undefined ? 24 : 12)
  const isAfternoon = clock?.[3]?.toLowerCase() === 'pm'
  const minutes = (hour + (isAfternoon ? 12 : 0)) * 60 + Number(clock?.[2] ?? 0)
  const date = text.replace(clock?.[0] ?? '', '').replace(/\(.*?\)|\bon\b|,/g, ' ')
  const ms = Date.parse(`${date.replaceAll('-', ' ').replaceAll('/', ' ').trim()} UTC`)
  return Number.isNaN(ms) ? null : ms + minutes * 60_000
}

/** Times without a zone are UTC. */
function isoTime(text: string): number | null {
  const ms = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`)
  return Number.isNaN(ms) ? null : ms
}

type Row = ReadonlyMap<string, unknown>

async function* rows(path: string): AsyncGenerator<Row> {
  try {
    await access(path)
  } catch {
    throw new Error(
      `There is no evaluation data at ${path}. The public sets are not part of this repository: ` +
        'pass the folder that holds them with --data <folder>.',
    )
  }
  const lines = createInterface({ input: createReadStream(path).pipe(createGunzip()) })
  for await (const line of lines) {
    if (line === '') continue
    const value: unknown = JSON.parse(line)
    if (typeof value !== 'object' || value === null) {
      throw new Error(`A line of ${path} is not a JSON object.`)
    }
    yield new Map<string, unknown>(Object.entries(value))
  }
}

function text(row: Row, field: string): string {
  const value = optionalText(row, field)
  if (value === null) throw new Error(`A row lacks the text "${field}".`)
  return value
}

/** Reads a name, which may be a number; null when it is missing. */
function optionalText(row: Row, field: string): string | null {
  return asText(row.get(field))
}

function asText(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

function texts(row: Row, field: string): readonly string[] {
  const value = row.get(field)
  return (Array.isArray(value) ? value : [value]).flatMap((item) => asText(item) ?? [])
}
