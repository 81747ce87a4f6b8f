/** A real round trip through the store: written, found by its words, removed. It leaves nothing behind. */

import { AppError } from '../domain/errors.ts'
import type { Memory } from '../domain/memory.ts'
import type { EnginePorts } from '../engine/engine-dependencies.ts'
import { stamp } from '../storage/access/optimistic-commit.ts'
import { SYSTEM } from '../storage/access/system-entries.ts'
import { parseDraft } from './draft.ts'
import { decideWrite } from './write-decision.ts'

export type Probe = {
  readonly works: boolean
  readonly because: string | null
}

const TEXT = 'a passing check that memories can be written and found'

export async function probe(ports: EnginePorts): Promise<Probe> {
  const { store } = ports
  const memory = passing(ports)
  await store.commit([{ op: 'put', table: 'memory', row: memory, expect: 'absent' }])
  try {
    const { hits } = await store.matchText(SYSTEM, {
      text: memory.content,
      limit: 1,
      where: { ids: [memory.id] },
    })
    const isFound = hits.some(({ id }) => id === memory.id)
    return isFound
      ? { works: true, because: null }
      : { works: false, because: 'What was written is not found by its words.' }
  } finally {
    await store.commit([
      { op: 'remove', table: 'memory', scope: SYSTEM, id: memory.id, expect: 'any' },
    ])
  }
}

function passing(ports: EnginePorts): Memory {
  const { change, now } = stamp(ports)
  const decision = decideWrite({
    draft: parseDraft({ content: TEXT }, now),
    place: SYSTEM,
    now,
    change,
    id: ports.ids.next('mem', now),
    sameKey: null,
    neighbours: [],
    tombstones: [],
    reinforcement: 0,
  })
  if (decision.kind !== 'create') throw new AppError('internal', 'A first memory is a new one.')
  return decision.memory
}
