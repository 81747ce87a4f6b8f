/** Probes the store with a round trip: writes a memory, finds it by keyword search, removes it. */

import type { Memory } from '../domain/memory.ts'
import { AppError } from '../lib/errors.ts'
import { createChangeStamp } from '../storage/access/optimistic-commit.ts'
import { SYSTEM_SCOPE } from '../storage/access/system-entries.ts'
import { parseDraft } from './draft.ts'
import type { MemoryDependencies } from './types.ts'
import { decideWrite } from './write-decision.ts'

export type WriteProbeResult = {
  readonly works: boolean
  readonly reason: string | null
}

const PROBE_CONTENT = 'a passing check that memories can be written and found'

export async function probeWrite(deps: MemoryDependencies): Promise<WriteProbeResult> {
  const { store } = deps
  const memory = createProbeMemory(deps)
  await store.commit([{ op: 'put', table: 'memory', row: memory, expect: 'absent' }])
  try {
    const { hits } = await store.searchText(SYSTEM_SCOPE, {
      text: memory.content,
      limit: 1,
      where: { ids: [memory.id] },
    })
    const isFound = hits.some(({ id }) => id === memory.id)
    return isFound
      ? { works: true, reason: null }
      : { works: false, reason: 'Keyword search does not find a memory that was just written.' }
  } finally {
    await store.commit([
      { op: 'remove', table: 'memory', scope: SYSTEM_SCOPE, id: memory.id, expect: 'any' },
    ])
  }
}

function createProbeMemory(deps: MemoryDependencies): Memory {
  const { change, now } = createChangeStamp(deps)
  const decision = decideWrite({
    draft: parseDraft({ content: PROBE_CONTENT }, now),
    place: SYSTEM_SCOPE,
    now,
    change,
    id: deps.ids.next('mem', now),
    keyHolder: null,
    similarMemories: [],
    tombstones: [],
    reinforcementRate: 0,
  })
  if (decision.kind !== 'create') throw new AppError('internal', 'The probe memory must be new.')
  return decision.memory
}
