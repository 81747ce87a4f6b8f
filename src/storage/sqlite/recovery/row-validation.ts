/** Whether a row that was found in a damaged file is one that Recollect could have written. */
import { ENTRY_KINDS } from '../../../domain/entry.ts'
import { MEMORY_CATEGORIES, MEMORY_STATUSES, TRUST_LEVELS } from '../../../domain/memory.ts'
import { DOCUMENT_TYPES } from '../../../domain/search-document.ts'
import { TURN_ROLES } from '../../../domain/turn.ts'
import { isObject, parseJson } from '../../../lib/json.ts'
import { computeFingerprint } from '../../../text/fingerprint.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import type { SqlRow, SqlValue } from '../connection/sqlite-driver.ts'

/** Tables without a rule here are held only to their columns' types. */
export function isValidRow(table: string, row: SqlRow): boolean {
  return RULES[table]?.(row) ?? true
}

const RULES: Readonly<Record<string, (row: SqlRow) => boolean>> = {
  memory: (row) =>
    isOneOf(DOCUMENT_TYPES, row.type) &&
    isOneOf(MEMORY_CATEGORIES, row.category) &&
    isOneOf(MEMORY_STATUSES, row.status) &&
    isOneOf(TRUST_LEVELS, row.trust) &&
    isObject(parseJson(String(row.provenance))) &&
    Array.isArray(parseJson(String(row.entities))) &&
    isObject(parseJson(String(row.metadata))) &&
    (row.type === 'turn' ||
      computeFingerprint(fromStorable(String(row.content))) === row.fingerprint),
  revision: (row) => {
    const snapshot = parseJson(String(row.snapshot))
    return isObject(snapshot) && snapshot.id === row.memory
  },
  entry: (row) => isOneOf(ENTRY_KINDS, row.kind) && isObject(parseJson(String(row.body))),
  turn: (row) => isOneOf(TURN_ROLES, row.role),
}

function isOneOf(words: readonly string[], value: SqlValue | undefined): boolean {
  return words.includes(String(value))
}
