import { expect, it } from 'vitest'
import { createReferenceStore } from '../../src/adapters/reference/store.ts'
import { openSqliteStore } from '../../src/adapters/sqlite/store.ts'
import type { MemoryId } from '../../src/core/ids.ts'
import { Actions } from '../../src/engine/consolidation/run.ts'
import { describeConsolidation } from './consolidation.suite.ts'
import { describeSummaries } from './summaries.suite.ts'

const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

describeConsolidation('on the reference store', async () => createReferenceStore())
describeConsolidation('on sqlite', openSqlite)

describeSummaries('on the reference store', async () => createReferenceStore())
describeSummaries('on sqlite', openSqlite)

it('[CN9] a dry run tells every action, a run the first thousand and how many there were', () => {
  const told = (isDryRun: boolean) => {
    const actions = new Actions({ isDryRun })
    const memories = ['mem_1' as MemoryId]
    for (let n = 0; n < 1_500; n++) {
      actions.add({ kind: 'evict', memories, because: 'It faded.', change: null })
    }
    return [actions.told.length, actions.total]
  }
  expect(told(true)).toEqual([1_500, 1_500])
  expect(told(false)).toEqual([1_000, 1_500])
})
