/**
 * Translates scopes and filters to SQL conditions. Every value is a bound parameter, never part of
 * the SQL text.
 */
import type { Scope } from '../../../domain/scope.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { toStorable } from '../../../text/storable-text.ts'
import { foldCase } from '../../../text/substring.ts'
import type {
  DocumentFilter,
  EntryFilter,
  JobFilter,
  MemoryFilter,
  RevisionFilter,
  SignalFilter,
  Table,
  Tables,
  TombstoneFilter,
  TurnFilter,
} from '../../store.ts'
import { ROW_CONDITION_BY_KIND } from './document-kinds.ts'

/** Collects the parameters of one statement; `bind` returns the placeholder. */
export type ParameterBinder = {
  readonly values: readonly unknown[]
  bind(value: number | boolean | string | readonly string[]): string
}

export function createParameterBinder(): ParameterBinder {
  const values: unknown[] = []
  return {
    values,
    bind(value) {
      const isList = typeof value === 'object'
      const storable = typeof value === 'string' ? toStorable(value) : value
      return `$${values.push(isList ? value.map(toStorable) : storable)}`
    },
  }
}

/** Must agree with `covers` in the domain. */
export function toScopeConditions(scope: Scope, { bind }: ParameterBinder): readonly string[] {
  const conditions = [`owner_id = ${bind(scope.owner)}`]
  if (scope.user === null) conditions.push('user_id IS NULL')
  else if (scope.user !== undefined) conditions.push(`user_id = ${bind(scope.user)}`)
  if (scope.session === null) conditions.push('session_id IS NULL')
  else if (scope.session !== undefined) conditions.push(`session_id = ${bind(scope.session)}`)
  return conditions
}

/**
 * Whether the filter is selective, so that looking up the rows first beats comparing all
 * candidates.
 */
export function isSelective(scope: Scope, where: DocumentFilter): boolean {
  const isNarrowing = ([name, value]: [string, unknown]) =>
    NARROWING.has(name) && value !== undefined
  return scope.session != null || Object.entries(where).some(isNarrowing)
}

const NARROWING: ReadonlySet<string> = new Set(['ids', 'key', 'fingerprint', 'change'])

export const TABLE_CONDITIONS: {
  readonly [T in Table]: (where: Tables[T]['where'], binder: ParameterBinder) => readonly string[]
} = {
  memory: memoryConditions,
  revision: revisionConditions,
  tombstone: tombstoneConditions,
  entry: entryConditions,
  turn: turnConditions,
  job: jobConditions,
  signal: signalConditions,
}

function memoryConditions(where: MemoryFilter, binder: ParameterBinder): readonly string[] {
  return toDocumentConditions(where, binder, ['memory'])
}

/** For rows of these kinds: those that the filter names, or a subset. */
export function toDocumentConditions(
  where: DocumentFilter,
  binder: ParameterBinder,
  kinds: readonly DocumentKind[],
): readonly string[] {
  const { bind } = binder
  const [only] = kinds
  const conditions = only !== undefined && kinds.length === 1 ? [ROW_CONDITION_BY_KIND[only]] : []
  const add = <V>(value: V | undefined, condition: (value: V) => string) => {
    if (value !== undefined) conditions.push(condition(value))
  }
  add(where.ids, (ids) => `id = ANY (${bind(ids)}::text[])`)
  add(where.key, (key) => `key = ${bind(key)}`)
  add(where.fingerprint, (fingerprint) => `fingerprint = ${bind(fingerprint)}`)
  add(where.statuses, (statuses) => `status = ANY (${bind(statuses)}::text[])`)
  add(where.types, (types) => `type = ANY (${bind(types)}::text[])`)
  add(where.categories, (categories) => `category = ANY (${bind(categories)}::text[])`)
  add(where.trusts, (trusts) => `trust = ANY (${bind(trusts)}::text[])`)
  add(where.sources, (sources) => isWrittenBy(sources, binder))
  add(where.hasConflict, (is) => `conflicts_with IS ${is ? 'NOT NULL' : 'NULL'}`)
  add(where.pinned, (pinned) => `pinned = ${bind(pinned)}`)
  add(where.change, (change) => `change = ${bind(change)}`)
  add(where.validAt, (instant) => {
    const now = bind(instant)
    return `(expires_at IS NULL OR expires_at > ${now}) AND (valid_until IS NULL OR valid_until > ${now})`
  })
  add(where.expiredBy, (instant) => `expires_at <= ${bind(instant)}`)
  add(where.createdFrom, (instant) => `created_at >= ${bind(instant)}`)
  add(where.createdBefore, (instant) => `created_at < ${bind(instant)}`)
  add(where.importanceMin, (importance) => `importance >= ${bind(importance)}`)
  add(where.contains, (text) => toSubstringCondition(['content', 'key'], text, binder))
  return conditions
}

/**
 * Extracts the source from the provenance by text pattern: PostgreSQL rejects JSON escapes that are
 * valid in JavaScript. A quote inside JSON text is always escaped, so the name in plain quotes can
 * only be the field. JSON is stored as is, without the storable-text escape that a bound value has.
 */
function isWrittenBy(sources: readonly string[], { bind }: ParameterBinder): string {
  const written = bind(sources.map((source) => JSON.stringify(source)))
  return `replace(substring(provenance FROM ${SOURCE}), chr(57344), chr(57344) || 'e000') = ANY (${written}::text[])`
}

const SOURCE = String.raw`E'"source":("(?:[^"\\\\]|\\\\.)*")'`

function revisionConditions(where: RevisionFilter, { bind }: ParameterBinder): readonly string[] {
  const conditions: string[] = []
  if (where.memories !== undefined) {
    conditions.push(`memory_id = ANY (${bind(where.memories)}::text[])`)
  }
  if (where.madeBy !== undefined) conditions.push(`made_by = ${bind(where.madeBy)}`)
  if (where.replacedBy !== undefined) conditions.push(`replaced_by = ${bind(where.replacedBy)}`)
  if (where.inForceAt !== undefined) {
    const instant = bind(where.inForceAt)
    conditions.push(`updated_at <= ${instant} AND replaced_at > ${instant}`)
  }
  return conditions
}

function tombstoneConditions(where: TombstoneFilter, { bind }: ParameterBinder): readonly string[] {
  return where.ids === undefined ? [] : [`id = ANY (${bind(where.ids)}::text[])`]
}

function entryConditions(where: EntryFilter, { bind }: ParameterBinder): readonly string[] {
  const conditions: string[] = []
  if (where.ids !== undefined) conditions.push(`id = ANY (${bind(where.ids)}::text[])`)
  if (where.kinds !== undefined) conditions.push(`kind = ANY (${bind(where.kinds)}::text[])`)
  if (where.about === null) conditions.push('about IS NULL')
  else if (where.about !== undefined) conditions.push(`about = ${bind(where.about)}`)
  if (where.atFrom !== undefined) conditions.push(`at >= ${bind(where.atFrom)}`)
  if (where.atBefore !== undefined) conditions.push(`at < ${bind(where.atBefore)}`)
  if (where.expiredBy !== undefined) conditions.push(`expires_at <= ${bind(where.expiredBy)}`)
  return conditions
}

function turnConditions(where: TurnFilter, { bind }: ParameterBinder): readonly string[] {
  const conditions: string[] = []
  if (where.ids !== undefined) conditions.push(`id = ANY (${bind(where.ids)}::text[])`)
  if (where.roles !== undefined) conditions.push(`role = ANY (${bind(where.roles)}::text[])`)
  if (where.saidFrom !== undefined) conditions.push(`said_at >= ${bind(where.saidFrom)}`)
  if (where.saidBefore !== undefined) conditions.push(`said_at < ${bind(where.saidBefore)}`)
  if (where.disabled !== undefined) conditions.push(`disabled = ${bind(where.disabled)}`)
  return conditions
}

function jobConditions(where: JobFilter, { bind }: ParameterBinder): readonly string[] {
  const conditions: string[] = []
  if (where.ids !== undefined) conditions.push(`id = ANY (${bind(where.ids)}::text[])`)
  if (where.kinds !== undefined) conditions.push(`kind = ANY (${bind(where.kinds)}::text[])`)
  if (where.owner === null) conditions.push('for_owner IS NULL')
  else if (where.owner !== undefined) conditions.push(`for_owner = ${bind(where.owner)}`)
  if (where.statuses !== undefined)
    conditions.push(`status = ANY (${bind(where.statuses)}::text[])`)
  if (where.dueFrom !== undefined) conditions.push(`due_at >= ${bind(where.dueFrom)}`)
  if (where.dueBefore !== undefined) conditions.push(`due_at < ${bind(where.dueBefore)}`)
  if (where.expiredBy !== undefined) conditions.push(`expires_at <= ${bind(where.expiredBy)}`)
  return conditions
}

function signalConditions(where: SignalFilter, { bind }: ParameterBinder): readonly string[] {
  const conditions: string[] = []
  if (where.ids !== undefined) conditions.push(`id = ANY (${bind(where.ids)}::text[])`)
  if (where.statuses !== undefined)
    conditions.push(`status = ANY (${bind(where.statuses)}::text[])`)
  if (where.expiredBy !== undefined) conditions.push(`expires_at <= ${bind(where.expiredBy)}`)
  return conditions
}

/** The only letter that lowercases to two. */
const DOTTED_CAPITAL = 'İ'
/** No letter above it has an uppercase form, as of Unicode 17. */
const CASED_CODE_POINT_MAX = 0x1ffff
/** The prefix of a storable-text escape, followed by four digits. */
const ESCAPE_CODE_POINT = 0xe000

/**
 * A case-insensitive substring condition that matches `text/substring.ts` exactly. PostgreSQL's own
 * `lower` depends on the locale of the database; under "C" it knows only ASCII. Only the letters of
 * the search text matter, so only these are lowercased, explicitly.
 */
function toSubstringCondition(
  columns: readonly string[],
  text: string,
  { bind }: ParameterBinder,
): string {
  const wanted = foldCase(text)
  const letters = [...new Set(wanted)].flatMap((letter) =>
    (variants().get(letter) ?? []).map((variant) => [variant, letter] as const),
  )
  const from = bind(letters.map(([variant]) => variant).join(''))
  const to = bind(letters.map(([, letter]) => letter).join(''))
  const dotted = bind(DOTTED_CAPITAL)
  const undotted = bind(foldCase(DOTTED_CAPITAL))
  const sought = bind(wanted)
  const pattern = bind(toCharacterPattern(toStorable(wanted)))
  const conditions = columns.map((column) => {
    const lower = `translate(replace(${column}, ${dotted}, ${undotted}), ${from}, ${to}) COLLATE "C"`
    // The digits of an escape are not text: where escapes occur, a match must not begin inside one.
    return `CASE WHEN strpos(${column}, chr(${ESCAPE_CODE_POINT})) = 0 THEN strpos(${lower}, ${sought}) > 0
      ELSE ${lower} ~ ${pattern} END`
  })
  return `(${conditions.join(' OR ')})`
}

/** A pattern for the text after any number of characters, each of which may be an escape. */
function toCharacterPattern(text: string): string {
  const literal = [...text].map((character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')
    return `\\U${hex}`
  })
  return `^(?:[^\\ue000]|\\ue000[0-9a-f]{4})*${literal.join('')}`
}

let known: ReadonlyMap<string, readonly string[]> | null = null

/** For each lowercase letter, the other letters that lowercase to it. */
function variants(): ReadonlyMap<string, readonly string[]> {
  if (known !== null) return known
  const found = new Map<string, string[]>()
  for (let codePoint = 0; codePoint <= CASED_CODE_POINT_MAX; codePoint++) {
    const letter = String.fromCodePoint(codePoint)
    const lower = foldCase(letter)
    if (lower === letter || letter === DOTTED_CAPITAL) continue
    found.set(lower, [...(found.get(lower) ?? []), letter])
  }
  known = found
  return found
}
