/** Counts memories by what they are. */
import type { Scope } from '../../../domain/scope.ts'
import type { MemoryFilter, Tally } from '../../store.ts'
import { type TallyGroup, tallyOf } from '../../tally.ts'
import type { SqliteSession } from '../connection/sqlite-database.ts'
import { conjunction, memoryConditions, within } from './sql-filters.ts'

/** Each escape of `core/storable-text.ts` is five characters that stand for one, and begins with U+E000. */
const CHARACTERS = `CASE WHEN instr(memory.content, char(0xe000)) = 0 THEN length(memory.content)
  ELSE 4 * length(replace(memory.content, char(0xe000), '')) - 3 * length(memory.content) END`

export function tally(session: SqliteSession, scope: Scope, where: MemoryFilter): Tally {
  const conditions = memoryConditions(where)
  const { sql, values } = conjunction([
    ...within('memory', scope, session, conditions),
    ...conditions,
  ])
  // The limit keeps SQLite from joining the two statements, and so from sorting all texts to group them.
  const groups = session.all(
    `SELECT type, category, count(*) AS count, sum(characters) AS characters
     FROM (SELECT type, category, ${CHARACTERS} AS characters FROM memory WHERE ${sql} LIMIT -1)
     GROUP BY type, category`,
    values,
  )
  return tallyOf(groups as unknown as readonly TallyGroup[]) // as the statement names its columns
}
