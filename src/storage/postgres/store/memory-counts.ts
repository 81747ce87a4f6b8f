/** Counts memories by what they are. */
import type { Scope } from '../../../domain/scope.ts'
import type { MemoryFilter, Tally } from '../../store.ts'
import { type TallyGroup, tallyOf } from '../../tally.ts'
import type { Query } from '../connection/postgres-driver.ts'
import type { Names } from '../schema/identifiers.ts'
import { CONDITIONS, createBinder, scopeConditions } from './sql-filters.ts'

/** Each escape of `core/storable-text.ts` is five characters that stand for one, and begins with U+E000. */
const CHARACTERS = `char_length(content)
  - 4 * (char_length(content) - char_length(replace(content, chr(57344), '')))`

export async function tally(
  query: Query,
  names: Names,
  scope: Scope,
  where: MemoryFilter,
): Promise<Tally> {
  const binder = createBinder()
  const conditions = [...scopeConditions(scope, binder), ...CONDITIONS.memory(where, binder)]
  const groups = await query<TallyGroup>(
    `SELECT type, category, count(*) AS count, sum(${CHARACTERS})::bigint AS characters
     FROM ${names.memory} WHERE ${conditions.join(' AND ')} GROUP BY type, category`,
    binder.values,
  )
  return tallyOf(groups)
}
