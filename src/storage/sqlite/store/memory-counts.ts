/** Counts memories by what they are. */
import type { Scope } from '../../../domain/scope.ts'
import type { MemoryCounts, MemoryFilter } from '../../store.ts'
import { type CountGroup, sumCounts } from '../../tally.ts'
import type { SqliteDatabase } from '../connection/sqlite-database.ts'
import { joinConditions, toDocumentConditions, toScopeConditions } from './sql-filters.ts'

/** Each escape of `core/storable-text.ts` is five characters that stand for one, and begins with U+E000. */
const CHARACTERS = `CASE WHEN instr(memory.content, char(0xe000)) = 0 THEN length(memory.content)
  ELSE 4 * length(replace(memory.content, char(0xe000), '')) - 3 * length(memory.content) END`

export function countMemories(
  session: SqliteDatabase,
  scope: Scope,
  where: MemoryFilter,
): MemoryCounts {
  const conditions = toDocumentConditions(where)
  const { sql, values } = joinConditions([
    ...toScopeConditions('memory', scope, session, conditions),
    ...conditions,
  ])
  // The limit keeps SQLite from joining the two statements, and so from sorting all texts to group them.
  const groups = session.all(
    `SELECT type, category, count(*) AS count, sum(characters) AS characters
     FROM (SELECT type, category, ${CHARACTERS} AS characters FROM memory WHERE ${sql} LIMIT -1)
     GROUP BY type, category`,
    values,
  )
  return sumCounts(groups as unknown as readonly CountGroup[]) // as the statement names its columns
}
