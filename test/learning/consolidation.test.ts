import { expect, it, onTestFinished } from 'vitest'
import type { MemoryId } from '../../src/domain/ids.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { ActionLog } from '../../src/learning/consolidation/consolidation-run.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { scriptedEmbedder } from '../fakes/embedder.ts'
import { describeConsolidation } from './consolidation.suite.ts'
import { ADA, furnish, ownerOn } from './consolidation-support.ts'
import { describeSummaries } from './summaries.suite.ts'

const openSqlite = () => openSqliteStore({ path: ':memory:', now: Date.now })

describeConsolidation('on the reference store', async () => createInMemoryStore())
describeConsolidation('on sqlite', openSqlite)

describeSummaries('on the reference store', async () => createInMemoryStore())
describeSummaries('on sqlite', openSqlite)

it('[RA34] consolidation has no vector made anew, and every memory keeps its own', async () => {
  const store = await openSqlite()
  const owner = ownerOn(store)
  await furnish(owner)
  const embedder = scriptedEmbedder()
  const engine = createEngineWith({
    ...owner.portsOn(store, {}),
    ...{ embedder, vectors: store.vectors },
  })
  onTestFinished(() => engine.close())
  const { memories } = await engine.admin.reindex()
  const before = embedder.calls.length
  const report = await engine.learning.consolidate(ADA)
  expect(report).toMatchObject({ merged: 1, promoted: 1, evicted: 1, episodesDeleted: 0 })
  await engine.recall(ADA, { text: 'Whatever waits gets its vector before the answer' })
  const made = embedder.calls.slice(before).filter(({ purpose }) => purpose === 'document')
  expect(made.flatMap(({ texts }) => texts)).toHaveLength(report.narrativesWritten)
  const { index } = await engine.status()
  expect(index).toMatchObject({ memories: memories + report.narrativesWritten, withoutVector: 0 })
})

it('[CN9] a dry run tells every action, a run the first thousand and how many there were', () => {
  const told = (isDryRun: boolean) => {
    const actions = new ActionLog({ isDryRun })
    const memories = ['mem_1' as MemoryId]
    for (let n = 0; n < 1_500; n++) {
      actions.add({ kind: 'evict', memories, reason: 'It faded.', change: null })
    }
    return [actions.recorded.length, actions.total]
  }
  expect(told(true)).toEqual([1_500, 1_500])
  expect(told(false)).toEqual([1_000, 1_500])
})
