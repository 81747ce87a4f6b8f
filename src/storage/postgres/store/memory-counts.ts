/** Counts memories by attribute. */
import type { Scope } from '../../../domain/scope.ts'
import type { MemoryCounts, MemoryFilter } from '../../store.ts'
import { type CountGroup, sumCounts } from '../../tally.ts'
import type { QueryFunction } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'
import { createParameterBinder, TABLE_CONDITIONS, toScopeConditions } from './sql-filters.ts'

/** Each storable-text escape is five characters for one, and begins with U+E000. */
const CHARACTERS = `char_length(content)
  - 4 * (char_length(content) - char_length(replace(content, chr(57344), '')))`

export async function countMemories(
  query: QueryFunction,
  names: SqlIdentifiers,
  scope: Scope,
  where: MemoryFilter,
): Promise<MemoryCounts> {
  const binder = createParameterBinder()
  const conditions = [
    ...toScopeConditions(scope, binder),
    ...TABLE_CONDITIONS.memory(where, binder),
  ]
  const groups = await query<CountGroup>(
    `SELECT type, category, count(*) AS count, sum(${CHARACTERS})::bigint AS characters
     FROM ${names.memory} WHERE ${conditions.join(' AND ')} GROUP BY type, category`,
    binder.values,
  )
  return sumCounts(groups)
}
