/** A real round trip through the store: written, found by its words, removed. It leaves nothing behind. */

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

const TEXT = 'a passing check that memories can be written and found'

export async function probeWrite(ports: MemoryDependencies): Promise<WriteProbeResult> {
  const { store } = ports
  const memory = createProbeMemory(ports)
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
      : { works: false, reason: 'What was written is not found by its words.' }
  } finally {
    await store.commit([
      { op: 'remove', table: 'memory', scope: SYSTEM_SCOPE, id: memory.id, expect: 'any' },
    ])
  }
}

function createProbeMemory(ports: MemoryDependencies): Memory {
  const { change, now } = createChangeStamp(ports)
  const decision = decideWrite({
    draft: parseDraft({ content: TEXT }, now),
    place: SYSTEM_SCOPE,
    now,
    change,
    id: ports.ids.next('mem', now),
    sameKey: null,
    similarMemories: [],
    tombstones: [],
    reinforcement: 0,
  })
  if (decision.kind !== 'create') throw new AppError('internal', 'A first memory is a new one.')
  return decision.memory
}
