/** Whether a row that was found in a damaged file is one that Recollect could have written. */
import { ENTRY_KINDS } from '../../../domain/entries/entry.ts'
import { JOB_STATUSES } from '../../../domain/job.ts'
import { MEMORY_CATEGORIES, MEMORY_STATUSES, TRUST_LEVELS } from '../../../domain/memory.ts'
import { DOCUMENT_TYPES } from '../../../domain/search-document.ts'
import { SIGNAL_STATUSES } from '../../../domain/signal.ts'
import { TURN_ROLES } from '../../../domain/turn.ts'
import { computeFingerprint } from '../../../text/fingerprint.ts'
import { fromStorable } from '../../../text/storable-text.ts'
import { LEGACY_ENTRY_KINDS } from '../../entry-upgrade.ts'
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
    isObject(parsed(row.provenance)) &&
    Array.isArray(parsed(row.entities)) &&
    isObject(parsed(row.metadata)) &&
    (row.type === 'turn' ||
      computeFingerprint(fromStorable(String(row.content))) === row.fingerprint),
  revision: (row) => {
    const snapshot = parsed(row.snapshot)
    return isObject(snapshot) && snapshot.id === row.memory
  },
  entry: (row) =>
    isOneOf([...ENTRY_KINDS, ...LEGACY_ENTRY_KINDS], row.kind) && isObject(parsed(row.body)),
  job: (row) =>
    isOneOf(JOB_STATUSES, row.status) &&
    isObject(parsed(row.input)) &&
    (row.outcome === null || isObject(parsed(row.outcome))),
  signal: (row) => isOneOf(SIGNAL_STATUSES, row.status) && Array.isArray(parsed(row.turns)),
  turn: (row) => isOneOf(TURN_ROLES, row.role),
}

function isOneOf(words: readonly string[], value: SqlValue | undefined): boolean {
  return words.includes(String(value))
}

function parsed(value: SqlValue | undefined): unknown {
  try {
    return JSON.parse(String(value))
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
