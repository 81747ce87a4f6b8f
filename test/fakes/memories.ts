/** Makes rows for tests: every field has a plain value unless a test says otherwise. */
import type {
  ChangeId,
  MemoryId,
  OwnerId,
  RevisionId,
  SessionId,
  UserId,
} from '../../src/domain/ids.ts'
import type { Memory, Revision } from '../../src/domain/memory.ts'
import type { Place } from '../../src/domain/scope.ts'
import type { Instant } from '../../src/lib/time.ts'

export const instant = (ms: number) => ms as Instant

export const memoryId = (name: string | number) =>
  `mem_${String(name).padStart(6, '0')}` as MemoryId

export const changeId = (name: string | number) => `chg_${name}` as ChangeId

export const owner = (name: string) => name as OwnerId

export const user = (name: string) => name as UserId

export const session = (name: string) => name as SessionId

export const ADA: Place = { owner: owner('ada'), user: null, session: null }

export const BOB: Place = { owner: owner('bob'), user: null, session: null }

let count = 0

export function memory(fields: Partial<Memory> = {}): Memory {
  count++
  return {
    id: memoryId(count),
    place: ADA,
    key: null,
    content: `statement number ${count}`,
    type: 'factual',
    category: 'general',
    importance: 5,
    salience: 0.5,
    pinned: false,
    trust: 'user',
    status: 'active',
    validFrom: null,
    validUntil: null,
    supersededBy: null,
    conflictsWith: null,
    expiresAt: null,
    provenance: {
      source: 'test',
      speaker: null,
      turns: [],
      extractor: null,
      extractorVersion: null,
    },
    entities: [],
    language: null,
    metadata: {},
    sourceCount: 1,
    useCount: 0,
    lastUsedAt: null,
    version: 1,
    change: changeId(count),
    createdAt: instant(1_000),
    updatedAt: instant(1_000),
    ...fields,
  }
}

export function revision(of: Memory, fields: Partial<Revision> = {}): Revision {
  return {
    id: `rev_${of.id}_${of.version}` as RevisionId,
    memory: of,
    replacedAt: instant(of.updatedAt + 1_000),
    replacedBy: changeId('later'),
    ...fields,
  }
}
