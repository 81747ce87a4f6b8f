/**
 * Translates scopes and filters to SQL conditions. Every value is a bound parameter, never part of
 * the SQL text.
 */
import type { Scope } from '../../../domain/scope.ts'
import type { DocumentKind } from '../../../domain/search-document.ts'
import { toStorable } from '../../../text/storable-text.ts'
import type {
  DocumentFilter,
  EntryFilter,
  MemoryFilter,
  RevisionFilter,
  Table,
  Tables,
  TombstoneFilter,
  TurnFilter,
} from '../../store.ts'
import { ROW_CONDITION_BY_KIND } from './document-kinds.ts'
import { toSubstringCondition } from './substring-condition.ts'

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
